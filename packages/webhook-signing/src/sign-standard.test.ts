import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { decodeSecret, generateSecret } from "./secret.ts";
import { signStandard } from "./sign.ts";

const now = 1_780_000_000;
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const body = '{"test": "Grüße"}';

test("[OUT-6] a generated secret is whsec_ and 32 random bytes, never the same twice", () => {
  const secrets = new Set(Array.from({ length: 100 }, generateSecret));
  expect(secrets.size).toBe(100);
  for (const secret of secrets) {
    expect(secret.startsWith("whsec_")).toBe(true);
    expect(decodeSecret(secret)?.length).toBe(32);
  }
});

test("[OUT] signatures equal those of the standardwebhooks library", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), fc.string(), (key, time, text) => {
      const secret = `whsec_${Buffer.from(key).toString("base64")}`;
      const theirs = new Webhook(secret).sign(id, new Date(time * 1000), text);
      expect(signStandard(secret, id, time, text)).toBe(theirs);
    }),
  );
});

test("[OUT] a secret of another form cannot sign", () => {
  for (const secret of ["", "whsec_", "abcd", "whsec_a", "whsec_ab-_", "whsec_abc d"]) {
    expect(() => signStandard(secret, id, now, body)).toThrow(TypeError);
  }
});
