import fc from "fast-check";
import { expect, test } from "vitest";
import { removeSecrets, UsedSecrets } from "./remove-secrets.ts";
import { secretForms } from "./secret-forms.ts";

function used(secrets: readonly string[]): UsedSecrets {
  const all = new UsedSecrets();
  for (const value of secrets) all.add(value);
  return all;
}

const SECRET = `pass/word "1"+ü <'>`;

test("[TOOL] a secret is removed from texts and names at every depth, in each of its forms", () => {
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString("base64"),
    Buffer.from(SECRET).toString("base64url"),
    "pass/word &quot;1&quot;+ü &lt;&#39;&gt;",
    "pass/word &quot;1&quot;+ü &lt;&#x27;&gt;",
    "pass/word &quot;1&quot;+ü &lt;&apos;&gt;",
    "pass/word &#34;1&#34;+ü &lt;&#39;&gt;",
    `pass/word "1"+ü &lt;'&gt;`,
    encodeURIComponent(SECRET).toLowerCase(),
  ];
  const value = { list: forms.map((form) => ({ [`name ${form}`]: `before ${form} after ${form}` })), n: 1 };
  const scrubbed = removeSecrets(value, used([SECRET]));
  const text = JSON.stringify(scrubbed);
  for (const form of forms) expect(text).not.toContain(JSON.stringify(form).slice(1, -1));
  expect(scrubbed).toMatchObject({ n: 1 });
});

test("[TOOL] a secret is removed from Basic credentials and other base64, whatever stands around it", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]{8,40}$/), fc.string(), fc.string(), (secret, before, after) => {
      for (const encoding of ["base64", "base64url"] as const) {
        const text = Buffer.from(`${before}${secret}${after}`).toString(encoding);
        const scrubbed = removeSecrets(`Basic ${text}`, used([secret])).replaceAll("[entfernt]", "\n");
        for (const part of scrubbed.slice("Basic ".length).split("\n")) {
          expect(Buffer.from(part, encoding).toString()).not.toContain(secret);
        }
        expect(scrubbed).not.toContain(text);
      }
    }),
  );
});

test("[TOOL] a secret of digits is removed where it occurs as a number", () => {
  expect(removeSecrets({ pin: 12345678, other: 1 }, used(["12345678"]))).toEqual({ pin: "[entfernt]", other: 1 });
});

test("[TOOL] a member __proto__ is treated like any other", () => {
  const value = JSON.parse('{"__proto__":{"a":"the secret","b":1}}');
  expect(JSON.stringify(removeSecrets(value, used(["the secret"])))).toBe('{"__proto__":{"a":"[entfernt]","b":1}}');
});

test("[TOOL] a value without a secret stays as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(removeSecrets(value, used(["\u{1f511}-no-value-contains-this"]))).toEqual(value);
      expect(removeSecrets(value, used([]))).toBe(value);
    }),
  );
});

test("[TOOL] no form of any secret remains, also where secrets overlap", () => {
  const secret = fc.string({ unit: fc.constantFrom("a", "%", "&", "'", " ", "ü"), minLength: 8, maxLength: 10 });
  const withText = fc.uniqueArray(secret, { minLength: 1, maxLength: 3 }).chain((secrets) => {
    const form = fc.constantFrom(...secrets.flatMap(secretForms));
    return fc.tuple(fc.constant(secrets), fc.array(fc.oneof(form, fc.constantFrom("a", "%", "&amp;"))));
  });
  fc.assert(
    fc.property(withText, ([secrets, pieces]) => {
      const cleaned = removeSecrets(pieces.join(""), used(secrets));
      for (const form of secrets.flatMap(secretForms)) expect(cleaned).not.toContain(form);
    }),
    { numRuns: 500 },
  );
});
