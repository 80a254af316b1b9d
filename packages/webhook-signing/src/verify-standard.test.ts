import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { decodeSecret, generateSecret } from "./secret.ts";
import { signStandard } from "./sign.ts";
import { verifyStandard } from "./verify-standard.ts";

const now = 1_780_000_000;
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const body = '{"test": "Grüße"}';
const secret = generateSecret();
const good = { id, timestamp: String(now), signature: signStandard(secret, id, now, body) };
const verifyWith = (headers: Partial<typeof good>, at = now) =>
  verifyStandard({ secret, headers: { ...good, ...headers }, body, now: at });

test("[AUTH] the example in the specification of Standard Webhooks is verified", () => {
  const headers = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: "1614265330",
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const input = { secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", headers, body: '{"test": 2432232314}' };
  expect(verifyStandard({ ...input, now: 1_614_265_330 })).toEqual({ ok: true, unixTime: 1_614_265_330 });
});

test("[AUTH] we sign as the standardwebhooks library does, and accept what it signs, with and without the prefix of the secret", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), fc.string(), (key, time, text) => {
      const encoded = Buffer.from(key).toString("base64");
      const signature = new Webhook(encoded).sign(id, new Date(time * 1000), text);
      expect(signStandard(`whsec_${encoded}`, id, time, text)).toBe(signature);
      for (const ours of [encoded, `whsec_${encoded}`]) {
        const headers = { id, timestamp: String(time), signature };
        expect(verifyStandard({ secret: ours, headers, body: text, now: time }).ok).toBe(true);
      }
    }),
  );
});

test("[AUTH] any one matching v1 suffices, and other versions do not count", () => {
  const other = signStandard(generateSecret(), id, now, body);
  const base64 = good.signature.slice(3);
  expect(verifyWith({ signature: `${other} v2,abc ${good.signature}` }).ok).toBe(true);
  for (const signature of ["", base64, `v1a,${base64}`, `v2,${base64}`, `${good.signature},${other}`, other]) {
    expect(verifyWith({ signature }).ok).toBe(false);
  }
});

test("[AUTH] id and time are signed, and the time passes up to the tolerance in both directions", () => {
  expect(verifyWith({ id: `${id}x` }).ok).toBe(false);
  expect(verifyWith({ timestamp: String(now + 1) }).ok).toBe(false);
  for (const seconds of [300, -300]) expect(verifyWith({}, now + seconds).ok).toBe(true);
  for (const seconds of [301, -301, Number.NaN]) {
    expect(verifyWith({}, now + seconds)).toEqual({ ok: false, reason: "outside-tolerance", secondsOff: -seconds });
  }
});

test("[AUTH] an id that could contain a time is refused, so that the signed text is read in one way only", () => {
  for (const odd of [`m.${now}`, "m.1", `m.${now}.x`, ".1"]) {
    const headers = { id: odd, timestamp: String(now), signature: signStandard(secret, odd, now, body) };
    expect(verifyStandard({ secret, headers, body, now })).toEqual({ ok: false, reason: "malformed" });
  }
  for (const plain of ["m.x1", "order.1a.2b", "1.x", "m.", "m1", "évt.x"]) {
    const headers = { id: plain, timestamp: String(now), signature: signStandard(secret, plain, now, body) };
    expect(verifyStandard({ secret, headers, body, now }).ok, plain).toBe(true);
  }
});

test("[AUTH] one signature is valid for one id, time and body, however the signed text is split", () => {
  const part = fc.stringMatching(/^[a-z0-9.]{0,8}$/);
  const time = fc.integer({ min: 1, max: 99 });
  fc.assert(
    fc.property(part, time, fc.array(fc.oneof(part, time.map(String)), { maxLength: 5 }), (sent, at, rest) => {
      const text = rest.join(".");
      const signature = signStandard(secret, sent, at, text);
      const signed = `${sent}.${at}.${text}`;
      const readings = [];
      for (const found of signed.matchAll(/\.(?=([0-9]+)\.)/g)) {
        const headers = { id: signed.slice(0, found.index), timestamp: found[1] ?? "", signature };
        const rest = signed.slice(found.index + headers.timestamp.length + 2);
        if (verifyStandard({ secret, headers, body: rest, now: 50 }).ok) readings.push(headers);
      }
      expect(readings.length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 2_000 },
  );
});

test("[AUTH] missing parts, and a secret that is not base64, verify nothing", () => {
  for (const missing of [{ id: "" }, { timestamp: "" }, { timestamp: "1e9" }, { timestamp: "-1" }]) {
    expect(verifyWith(missing)).toEqual({ ok: false, reason: "malformed" });
  }
  for (const other of ["", "whsec_", "not base64!"]) {
    expect(verifyStandard({ secret: other, headers: good, body, now }).ok).toBe(false);
  }
});

test("[OUT-6] a generated secret is whsec_ and 32 random bytes, never the same twice", () => {
  const secrets = new Set(Array.from({ length: 100 }, generateSecret));
  expect(secrets.size).toBe(100);
  for (const made of secrets) expect(decodeSecret(made)?.length).toBe(32);
});

test("[OUT] a secret of another form cannot sign", () => {
  for (const other of ["", "whsec_", "abcd", "whsec_a", "whsec_ab-_", "whsec_abc d"]) {
    expect(() => signStandard(other, id, now, body)).toThrow(TypeError);
  }
});
