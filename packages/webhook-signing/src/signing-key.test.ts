import fc from "fast-check";
import { expect, test } from "vitest";
import { generateSecret } from "./secret.ts";
import { sign, signStandard } from "./sign.ts";
import { signingKey } from "./signing-key.ts";

test("[OUT-22] a prepared key signs like its secret", () => {
  const secret = generateSecret();
  const key = signingKey(secret);
  fc.assert(
    fc.property(fc.string(), fc.nat(), (body, time) => {
      expect(sign(key, time, body)).toBe(sign(secret, time, body));
      expect(signStandard(key, "id", time, body)).toBe(signStandard(secret, "id", time, body));
    }),
  );
});

test("a prepared key of another form has no signature of Standard Webhooks", () => {
  const key = signingKey("another");
  expect(sign(key, 1, "body")).toBe(sign("another", 1, "body"));
  expect(() => signStandard(key, "id", 1, "body")).toThrow(TypeError);
});
