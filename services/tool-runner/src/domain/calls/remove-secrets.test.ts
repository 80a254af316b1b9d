import fc from "fast-check";
import { expect, test } from "vitest";
import { removeSecrets } from "./remove-secrets.ts";

const SECRET = 'pass/word "1"+ü';

test("[TOOL] a secret is removed from texts and names at every depth, in each of its forms", () => {
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString("base64"),
    Buffer.from(SECRET).toString("base64url"),
  ];
  const value = { list: forms.map((form) => ({ [`name ${form}`]: `before ${form} after ${form}` })), n: 1 };
  const scrubbed = removeSecrets(value, new Set([SECRET]));
  const text = JSON.stringify(scrubbed);
  for (const form of forms) expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
  expect(scrubbed).toMatchObject({ n: 1 });
});

test("[TOOL] a secret of digits is removed where it occurs as a number", () => {
  expect(removeSecrets({ pin: 12345678, other: 1 }, new Set(["12345678"]))).toEqual({ pin: "[entfernt]", other: 1 });
});

test("[TOOL] a member __proto__ is treated like any other", () => {
  const value = JSON.parse('{"__proto__":{"a":"the secret","b":1}}');
  expect(JSON.stringify(removeSecrets(value, new Set(["the secret"])))).toBe('{"__proto__":{"a":"[entfernt]","b":1}}');
});

test("[TOOL] a value without a secret stays as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(removeSecrets(value, new Set(["\u{1f511}-no-value-contains-this"]))).toEqual(value);
      expect(removeSecrets(value, new Set())).toBe(value);
    }),
  );
});
