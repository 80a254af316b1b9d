import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_SIGNATURE_HEADER_CHARS } from "./parse-header.ts";
import { generateSecret } from "./secret.ts";
import { sign } from "./sign.ts";
import { verify } from "./verify.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const now = 1_780_000_000;
const body = new TextEncoder().encode('{"id":"evt_1","text":"ä\\u0000"}');
const good = sign(secret, now, body);
const hexOf = (header: string) => header.slice(header.indexOf("v1=") + 3);

test("[OUT-22] [OUT-26] [OUT-27] [OUT-28] [OUT-29] equals what openssl dgst computes for the same bytes", () => {
  expect(sign("whsec_test", 1_700_000_000, '{"a":1}')).toBe(
    "t=1700000000,v1=38877139021993b830af32feea6e18a8da83eb2f6e49ee50bd9e4cf4ca4d3789",
  );
});

test("[AUTH-1] what was signed verifies, for any secret, time and body", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.uint8Array(), (anySecret, time, anyBody) => {
      const result = verify({ secret: anySecret, header: sign(anySecret, time, anyBody), body: anyBody, now: time });
      expect(result).toEqual({ ok: true, unixTime: time });
    }),
  );
});

test("[AUTH-1] any flipped bit of the body is a mismatch", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), (anyBody, seed) => {
      const header = sign(secret, now, anyBody);
      const bit = seed % (anyBody.length * 8);
      const flipped = Uint8Array.from(anyBody);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verify({ secret, header, body: flipped, now })).toEqual({ ok: false, reason: "mismatch" });
    }),
  );
});

test("[AUTH-1] any flipped bit of the signature is a mismatch", () => {
  fc.assert(
    fc.property(fc.nat(255), (bit) => {
      const bytes = Buffer.from(hexOf(good), "hex");
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const header = `t=${now},v1=${bytes.toString("hex")}`;
      expect(verify({ secret, header, body, now })).toEqual({ ok: false, reason: "mismatch" });
    }),
  );
});

test("[AUTH-1] another secret or another time is a mismatch", () => {
  expect(verify({ secret: generateSecret(), header: good, body, now }).ok).toBe(false);
  expect(verify({ secret: secret.slice("whsec_".length), header: good, body, now }).ok).toBe(false);
  expect(verify({ secret, header: `t=${now + 1},v1=${hexOf(good)}`, body, now })).toEqual({
    ok: false,
    reason: "mismatch",
  });
});

test("[AUTH-2] [AUTH-3] exactly 300 s passes in both directions, 301 s does not", () => {
  for (const [offset, ok] of [
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ] as const) {
    const result = verify({ secret, header: good, body, now: now + offset });
    expect(result).toMatchObject(ok ? { ok: true, unixTime: now } : { ok: false, reason: "outside-tolerance" });
  }
});

test("[AUTH] a v0 that would match does not count", () => {
  expect(verify({ secret, header: `t=${now},v0=${hexOf(good)}`, body, now })).toEqual({
    ok: false,
    reason: "malformed",
  });
  expect(verify({ secret, header: `t=${now},v0=${hexOf(good)},v1=00`, body, now })).toEqual({
    ok: false,
    reason: "mismatch",
  });
});

test("[AUTH-1] verifying arbitrary headers never throws and never accepts", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (header) => {
      expect(verify({ secret, header, body, now }).ok).toBe(false);
    }),
  );
});

test("[AUTH] any one matching v1 suffices, the parts are read in any order, unknown ones are ignored, and the time may have leading zeros", () => {
  const v1 = createHmac("sha256", secret).update("007.").update(body).digest("hex");
  for (const header of [`v0=x,v1=ab,scheme,t=007,v1=${v1.toUpperCase()},other=1=2`, ` t = 007 , v1 = ${v1} `]) {
    expect(verify({ secret, header, body, now: 7 })).toEqual({ ok: true, unixTime: 7 });
  }
});

test.each([
  ["empty", ""],
  ["without t", "v1=ab"],
  ["without v1", "t=1"],
  ["several t", "t=1,t=1,v1=ab"],
  ["empty t", "t=,v1=ab"],
  ["negative t", "t=-1,v1=ab"],
  ["signed t", "t=+1,v1=ab"],
  ["fractional t", "t=1.0,v1=ab"],
  ["exponent t", "t=1e3,v1=ab"],
  ["hexadecimal t", "t=0x1,v1=ab"],
  ["Arabic-Indic digits in t", "t=١,v1=ab"],
  ["t beyond safe integers", "t=99999999999999999,v1=ab"],
  ["another letter case", "T=1,V1=ab"],
  ["too long", `t=1,v1=${"a".repeat(MAX_SIGNATURE_HEADER_CHARS)}`],
])("[AUTH] a header that is %s is malformed", (_name, header) => {
  expect(verify({ secret, header, body, now: 1 })).toEqual({ ok: false, reason: "malformed" });
});
