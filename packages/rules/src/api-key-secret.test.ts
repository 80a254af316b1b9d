import fc from "fast-check";
import { expect, test } from "vitest";
import { generateSecret, hashSecret, isWellFormed, visiblePrefix } from "./api-key-secret.ts";

test("[KEY-14] a secret starts with svc_live_ and no two are alike", () => {
  const secrets = new Set(Array.from({ length: 500 }, generateSecret));
  expect(secrets.size).toBe(500);
  for (const secret of secrets) expect(secret).toMatch(/^svc_live_[0-9A-Za-z]{49}$/);
});

test("[KEY-7] the visible prefix contains six characters of the random part", () => {
  const secret = generateSecret();
  expect(visiblePrefix(secret)).toBe(secret.slice(0, 15));
});

test("[ERR-6] every generated secret is well formed, one with a changed character is not", () => {
  fc.assert(
    fc.property(fc.nat(48), fc.constantFrom(..."0123456789abcxyzABCXYZ"), (at, character) => {
      const secret = generateSecret();
      expect(isWellFormed(secret)).toBe(true);
      const index = "svc_live_".length + at;
      fc.pre(secret[index] !== character);
      expect(isWellFormed(secret.slice(0, index) + character + secret.slice(index + 1))).toBe(false);
    }),
  );
});

test("[ERR-6] arbitrary text is not well formed and never throws", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => !isWellFormed(text) && !isWellFormed(`svc_live_${text}`)),
  );
});

test("[KEY-16] the hash is the SHA-256 of the whole secret", () => {
  expect(hashSecret("svc_live_x").toString("hex")).toBe(
    "e7768436bcc3af0c372290a77b4b7028557aefc3f5ad11b847f3ad13c693de43",
  );
});
