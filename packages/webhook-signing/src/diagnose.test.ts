import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type DiagnoseInput, diagnose } from "./diagnose.ts";
import { decodeSecret, generateSecret } from "./secret.ts";
import { sign, signStandard } from "./sign.ts";

const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const now = 1_780_000_000;
const id = "019a8e5c-0000-7000-8000-000000000001";
const text = '{"id":"evt_1","path":"a/b","text":"Grüße","n":1.0}';
const body = Buffer.from(text);
const good = sign(secret, now, body);
const standardLines = (signature: string, time = now) =>
  `webhook-id: ${id}\nWebhook-Timestamp: ${time}\r\nwebhook-signature: ${signature}`;

const look = (input: Partial<DiagnoseInput>) => diagnose({ secret, headers: good, body, receivedAt: now, ...input });
const hex = (key: string | Buffer, signed: string, over: Buffer = body) =>
  createHmac("sha256", key).update(signed).update(over).digest("hex");
const base64 = (key: string | Buffer, signed: string) =>
  createHmac("sha256", key).update(signed).update(body).digest("base64");
const header = (v1: string) => `X-Service-Signature: t=${now},v1=${v1}`;
const key = decodeSecret(secret) as Buffer;

test("[OUT-22] [OUT-28] a correct signature of either scheme matches, as a line, a bare value, or among other headers", () => {
  for (const headers of [good, `x-service-signature: ${good}`, `Host: a\r\nX-Service-Signature: ${good}\r\nA: b`]) {
    expect(look({ headers })).toMatchObject({ scheme: "service", headerFault: "", matches: true, mistakes: [] });
  }
  expect(look({ headers: standardLines(signStandard(secret, id, now, body)) })).toEqual({
    scheme: "standard",
    headerFault: "",
    signedAt: now,
    timeWithinTolerance: true,
    secondsOff: 0,
    matches: true,
    mistakes: [],
    bodyDiffersAt: undefined,
  });
});

test.each([
  ["v1=00", "t is missing"],
  [`t=1,t=2,v1=${"0".repeat(64)}`, "t occurs more than once"],
  ["t=5", "v1 is missing"],
  [`t=5x,v1=${"0".repeat(64)}`, "t is not a Unix time in seconds, of at most 15 digits"],
  ["t=5,v1=00", "v1 is not 64 hexadecimal digits"],
  ["webhook-timestamp: 5\nwebhook-signature: v1,x", "webhook-id is missing"],
  ["webhook-id: a\nwebhook-signature: v1,x", "webhook-timestamp is missing"],
  [
    "webhook-id: a\nwebhook-timestamp: yesterday\nwebhook-signature: v1,x",
    "webhook-timestamp is not a Unix time in seconds",
  ],
  ["webhook-id: a\nwebhook-timestamp: 5\nwebhook-signature: v2,x", "webhook-signature has no v1,…"],
  ["webhook-id: a\nwebhook-timestamp: 5\nwebhook-signature: v1,x", "v1 is not the base64 of 32 bytes"],
  ["Content-Type: text/plain", "neither X-Service-Signature nor the headers of Standard Webhooks are there"],
])("[OUT-22] %j is malformed: %s", (headers, fault) => {
  expect(look({ headers })).toMatchObject({ headerFault: fault, matches: false, mistakes: [] });
});

test("[OUT-32] tells by how much the time is off, in both directions, whether or not the signature matches", () => {
  expect(look({ receivedAt: now + 300 })).toMatchObject({ timeWithinTolerance: true, secondsOff: 300, matches: true });
  expect(look({ receivedAt: now + 301 })).toMatchObject({ timeWithinTolerance: false, secondsOff: 301, matches: true });
  expect(look({ receivedAt: now - 301 })).toMatchObject({
    timeWithinTolerance: false,
    secondsOff: -301,
    matches: true,
  });
});

const spaced = '{"id": "evt_1", "path": "a/b", "text": "Grüße", "n": 1.0}';
test.each<[string, string | Buffer, string]>([
  ["pretty-printed", JSON.stringify(JSON.parse(text), null, 2).replace('"n": 1', '"n": 1.0'), "body-reserialised"],
  ["with spaces, as Python writes it", spaced, "body-reserialised"],
  ["with a line break added", `${text}\n`, "trailing-newline"],
  ["with CRLF added", `${text}\r\n`, "trailing-newline"],
  ["read as Latin-1", body.toString("latin1"), "encoding"],
  ["written as Latin-1", Buffer.from(text, "latin1"), "encoding"],
  ["with spaces around", `  ${text} `, "surrounding-space"],
])("[OUT-30] names the mistake of a body that came %s", (_, pasted, mistake) => {
  expect(look({ body: Buffer.from(pasted) })).toMatchObject({ matches: false, mistakes: [mistake] });
});

test("[OUT-30] names what the receiver's own code hashed instead of the body", () => {
  const value = JSON.parse(text);
  const lines = Buffer.from('{\n"a":1\n}\n');
  const wrong: [Buffer, string, string][] = [
    [body, JSON.stringify(value), "body-reserialised"],
    [body, JSON.stringify(value, null, 2), "body-reserialised"],
    [
      body,
      JSON.stringify(value).replace("/", "\\/").replace("ü", "\\u00fc").replace("ß", "\\u00df"),
      "body-reserialised",
    ],
    [body, `${text}\n`, "trailing-newline"],
    [lines, '{\n"a":1\n}', "trailing-newline"],
    [lines, '{\r\n"a":1\r\n}\r\n', "line-endings"],
    [Buffer.from("{\r\n}"), "{\n}", "line-endings"],
  ];
  for (const [pasted, hashed, mistake] of wrong) {
    const headers = header(hex(secret, `${now}.`, Buffer.from(hashed)));
    expect(look({ body: pasted, headers }).mistakes, hashed).toEqual([mistake]);
  }
});

test.each([
  ["without whsec_", header(hex(secret.slice(6), `${now}.`)), ["key-without-prefix"]],
  ["with the decoded key", header(hex(key, `${now}.`)), ["key-decoded"]],
  ["without the time", header(hex(secret, "")), ["time-not-signed"]],
  ["with a colon", header(hex(secret, `${now}:`)), ["separator"]],
  ["without a separator", header(hex(secret, String(now))), ["separator"]],
  ["with t=", header(hex(secret, `t=${now}.`)), ["separator"]],
  ["at the time of the attempt before", header(hex(secret, `${now - 60}.`)), ["time-of-other-attempt"]],
  ["in base64", header(base64(secret, `${now}.`)), ["digest-form"]],
  ["with webhook-id", `X-Service-Delivery: ${id}\n${header(hex(secret, `${id}.${now}.`))}`, ["other-scheme"]],
  ["without prefix and time", header(hex(secret.slice(6), "")), ["key-without-prefix", "time-not-signed"]],
  ["standard: with the text as key", standardLines(`v1,${base64(secret, `${id}.${now}.`)}`), ["key-not-decoded"]],
  ["standard: without prefix", standardLines(`v1,${base64(secret.slice(6), `${id}.${now}.`)}`), ["key-without-prefix"]],
  ["standard: without the time", standardLines(`v1,${base64(key, `${id}.`)}`), ["time-not-signed"]],
  ["standard: without the id", standardLines(`v1,${base64(key, `${now}.`)}`), ["other-scheme"]],
  ["standard: in hex", standardLines(`v1,${hex(key, `${id}.${now}.`)}`), ["digest-form"]],
])("[OUT-26] [OUT-27] [OUT-28] names a signature made %s", (_, headers, mistakes) => {
  expect(look({ headers, attemptTimes: [now - 60, now] })).toMatchObject({ matches: false, mistakes });
});

test("[OUT-30] tells from the sent bytes whether the body is the same JSON in another order, or another body", () => {
  const sentBody = Buffer.from('{"a":1,"b":2}');
  const headers = sign(secret, now, sentBody);
  const reordered = look({ headers, sentBody, body: Buffer.from('{"b":2,"a":1}') });
  expect(reordered).toMatchObject({ mistakes: ["body-reserialised"], bodyDiffersAt: 2 });
  expect(look({ headers, sentBody, body: Buffer.from('{"a":1') })).toMatchObject({
    mistakes: ["other-body"],
    bodyDiffersAt: 6,
  });
});

test("[OUT-27] no mistake explains a signature made with another secret or of another body", () => {
  expect(look({ headers: sign(generateSecret(), now, body) })).toMatchObject({ matches: false, mistakes: [] });
  expect(look({ headers: sign(secret, now, "else") })).toMatchObject({ matches: false, mistakes: [] });
});

test("a diagnosis never contains the secret or a signature made with it", () => {
  fc.assert(
    fc.property(fc.string(), fc.uint8Array({ maxLength: 500 }), fc.boolean(), (line, anyBody, standard) => {
      const headers = standard
        ? standardLines(`v1,${"A".repeat(43)}=`)
        : `${line}\nX-Service-Signature: t=${now},v1=${"0".repeat(64)}`;
      const diagnosis = JSON.stringify(diagnose({ secret, headers, body: anyBody, receivedAt: now, sentBody: body }));
      const rights = [anyBody, body].flatMap((signed) => [
        sign(secret, now, signed),
        signStandard(secret, id, now, signed),
      ]);
      for (const right of rights) expect(diagnosis).not.toContain(right.slice(right.indexOf("v1") + 3));
      expect(diagnosis).not.toContain(secret.slice(6));
    }),
  );
});

const digits = fc.stringMatching(/^[0-9]{0,500}$/);
const anyHeaders = fc.oneof(
  fc.string({ unit: "binary" }),
  digits.map((time) => `webhook-timestamp: ${time}`),
  digits.map((time) => standardLines(`v1,${"A".repeat(43)}=`).replace(String(now), time)),
  digits.map((time) => `t=${time},v1=${"0".repeat(64)}`),
);

test("[OUT-32] any headers and body get a diagnosis in whole seconds, and only what verifies matches", () => {
  fc.assert(
    fc.property(anyHeaders, fc.uint8Array(), (headers, anyBody) => {
      const { matches, secondsOff } = diagnose({ secret, headers, body: anyBody, receivedAt: now });
      expect(matches).toBe(false);
      expect(secondsOff).toSatisfy(Number.isSafeInteger);
    }),
  );
});

test("bodies that break parsers get a diagnosis", () => {
  for (const deep of [
    "[".repeat(100_000),
    `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    `"${"\\".repeat(200_000)}`,
  ]) {
    expect(look({ body: Buffer.from(deep) }).matches).toBe(false);
  }
});
