import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { decodeSecret, generateSecret } from "./secret.ts";
import { signStandard, verifyStandard } from "./standard.ts";

const now = 1_780_000_000;
const timestamp = String(now);
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
      expect(verifyStandard({ secret, id, timestamp: String(time), signature: theirs, body: text, now: time }).ok).toBe(
        true,
      );
    }),
  );
});

test("[OUT] the standardwebhooks library verifies our headers", () => {
  const secret = generateSecret();
  const seconds = Math.floor(Date.now() / 1000);
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signStandard(secret, id, seconds, body),
  };
  expect(new Webhook(secret).verify(body, headers)).toEqual({ test: "Grüße" });
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
});

test("[OUT] another id, time, body or secret is a mismatch; 300 s passes, 301 s does not", () => {
  const secret = generateSecret();
  const good = { secret, id, timestamp, signature: signStandard(secret, id, now, body), body, now };
  expect(verifyStandard(good)).toEqual({ ok: true, unixTime: now });
  const mismatch = { ok: false, reason: "mismatch" };
  expect(verifyStandard({ ...good, id: `${id}x` })).toEqual(mismatch);
  expect(verifyStandard({ ...good, timestamp: String(now + 1) })).toEqual(mismatch);
  expect(verifyStandard({ ...good, body: `${body} ` })).toEqual(mismatch);
  expect(verifyStandard({ ...good, secret: generateSecret() })).toEqual(mismatch);
  expect(verifyStandard({ ...good, secret: "not a secret" })).toEqual(mismatch);
  for (const offset of [300, -300]) expect(verifyStandard({ ...good, now: now + offset }).ok).toBe(true);
  for (const offset of [301, -301]) {
    expect(verifyStandard({ ...good, now: now + offset })).toEqual({ ok: false, reason: "outside-tolerance" });
  }
});

test("[OUT] one matching v1 of several suffices, other versions never count", () => {
  const secret = generateSecret();
  const signature = signStandard(secret, id, now, body);
  const check = (header: string) => verifyStandard({ secret, id, timestamp, signature: header, body, now });
  expect(check(`v1,${"A".repeat(43)}= ${signature}`).ok).toBe(true);
  expect(check(`v1a,x ${signature} v2,y`).ok).toBe(true);
  expect(check(signature.replace("v1,", "v2,"))).toEqual({ ok: false, reason: "malformed" });
});

test("[OUT] arbitrary headers never throw and never verify", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: "binary" }), fc.string(), (time, signature, secret) => {
      expect(verifyStandard({ secret, id, timestamp: time, signature: `v1,${signature}`, body, now }).ok).toBe(false);
    }),
  );
});

test("[OUT] a secret of another form cannot sign", () => {
  for (const secret of ["", "whsec_", "abcd", "whsec_a", "whsec_ab-_", "whsec_abc d"]) {
    expect(() => signStandard(secret, id, now, body)).toThrow(TypeError);
  }
});
