import fc from "fast-check";
import { expect, test } from "vitest";
import { scrub } from "./scrubbing.ts";

const SECRET = 'pass/word "1"+ü';

test("[TOOL] a secret is removed from texts and names at every depth, in each of its forms", () => {
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString("base64"),
    Buffer.from(SECRET).toString("base64url"),
  ];
  const value = { list: forms.map((form) => ({ [`name ${form}`]: `before ${form} after ${form}` })), n: 1 };
  const scrubbed = scrub(value, new Set([SECRET]));
  const text = JSON.stringify(scrubbed);
  for (const form of forms) expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
  expect(scrubbed).toMatchObject({ n: 1 });
});

test("[TOOL] a secret of digits is removed where it stands as a number", () => {
  expect(scrub({ pin: 12345678, other: 1 }, new Set(["12345678"]))).toEqual({ pin: "[entfernt]", other: 1 });
});

test("[TOOL] a member __proto__ is one like any other", () => {
  const value = JSON.parse('{"__proto__":{"a":"the secret","b":1}}');
  expect(JSON.stringify(scrub(value, new Set(["the secret"])))).toBe('{"__proto__":{"a":"[entfernt]","b":1}}');
});

test("[TOOL] what holds no secret stays as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(scrub(value, new Set(["\u{1f511}-no-value-holds-this"]))).toEqual(value);
      expect(scrub(value, new Set())).toBe(value);
    }),
  );
});
