import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { inTransaction } from "@toolgate/postgres/pool";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { testRedis } from "@toolgate/testbed/servers/servers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { codeOf, type RunningKeyAuth, runKeyAuth, untilBlocked } from "../running-key-auth.ts";

const START = Date.parse("2026-11-21T12:00:10Z");
const DAY_S = 86_400;

let now = START;
let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ replicas: 2, now: () => now });
});
beforeEach(() => {
  now = START;
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

const opens = async (secret: string) => {
  const verdicts = await Promise.all([0, 1].map((replica) => keyAuth.verify(secret, { replica })));
  expect(verdicts[0] === undefined).toBe(verdicts[1] === undefined);
  return verdicts[0] !== undefined;
};

test("[KEY] [KEY-17] after a rotation both secrets are valid on every replica until exactly the end of the overlap", async () => {
  const who = keyAuth.as("manager");
  const { keyId, secret: old } = await keyAuth.newKey({ limit: 100 });
  expect(await opens(old)).toBe(true);
  const rotated = await keyAuth.keys(1).rotateKey({ keyId, overlapSeconds: 3_600 }, who);
  expect(rotated.secret).not.toBe(old);
  expect(rotated.secret.startsWith(rotated.key?.prefix ?? "-")).toBe(true);
  const until = START + 3_600_000;
  expect(rotated.key?.previousSecretValidUntil && timestampDate(rotated.key.previousSecretValidUntil)).toEqual(
    new Date(until),
  );
  expect(await opens(old)).toBe(true);
  expect(await opens(rotated.secret)).toBe(true);
  now = until - 1;
  expect(await opens(old)).toBe(true);
  now = until;
  expect(await opens(old)).toBe(false);
  expect(await opens(rotated.secret)).toBe(true);
  expect((await keyAuth.keys().getKey({ keyId }, who)).key?.previousSecretValidUntil).toBeUndefined();
});

test("[KEY] [LIMIT-1] both secrets share the key's id and limit during the overlap", async () => {
  await earlyInMinute();
  const { keyId, secret: old } = await keyAuth.newKey({ limit: 3 });
  const { secret } = await keyAuth.keys().rotateKey({ keyId, overlapSeconds: 60 }, keyAuth.as("manager"));
  expect(await keyAuth.verify(old)).toMatchObject({ keyId, admitted: true, remaining: 2 });
  expect(await keyAuth.verify(secret, { replica: 1 })).toMatchObject({ keyId, admitted: true, remaining: 1 });
  expect(await keyAuth.verify(old)).toMatchObject({ admitted: true, remaining: 0 });
  expect(await keyAuth.verify(secret)).toMatchObject({ admitted: false });
});

test("[KEY] without an overlap the old secret ends immediately, and a second rotation ends the one before it", async () => {
  const who = keyAuth.as("manager");
  const { keyId, secret: first } = await keyAuth.newKey();
  expect(await opens(first)).toBe(true);
  const { secret: second } = await keyAuth.keys().rotateKey({ keyId, overlapSeconds: 0 }, who);
  expect(await opens(first)).toBe(false);
  expect(await opens(second)).toBe(true);
  const { secret: third } = await keyAuth.keys().rotateKey({ keyId, overlapSeconds: 7 * DAY_S }, who);
  expect(await opens(second)).toBe(true);
  const { secret: fourth } = await keyAuth.keys(1).rotateKey({ keyId, overlapSeconds: 60 }, who);
  expect(await opens(second)).toBe(false);
  expect(await opens(third)).toBe(true);
  expect(await opens(fourth)).toBe(true);
});

test("[KEY] a key that a replica loads during a rotation is not used after the response to the rotation", async () => {
  const who = keyAuth.as("manager");
  const { keyId, secret } = await keyAuth.newKey();
  const rotation = await inTransaction(keyAuth.pool, async (client) => {
    await client.query("select 1 from key_auth.keys where id = $1 for update", [keyId]);
    const response = keyAuth.keys().rotateKey({ keyId, overlapSeconds: 0 }, who);
    await untilBlocked(keyAuth.pool);
    expect(await opens(secret)).toBe(true);
    return { response };
  });
  await rotation.response;
  expect(await opens(secret)).toBe(false);
});

test("[KEY] [KEY-21] a revocation ends both secrets, and a revoked key cannot be rotated", async () => {
  const who = keyAuth.as("manager");
  const { keyId, secret: old } = await keyAuth.newKey();
  const { secret } = await keyAuth.keys().rotateKey({ keyId, overlapSeconds: DAY_S }, who);
  for (const live of [old, secret]) expect(await opens(live)).toBe(true);
  await keyAuth.keys().revokeKey({ keyId }, who);
  for (const dead of [old, secret]) expect(await opens(dead)).toBe(false);
  expect(await codeOf(keyAuth.keys().rotateKey({ keyId }, who))).toBe(Code.FailedPrecondition);
});

test("[KEY-6] an overlap is 0 to 7 days and never outlasts the key", async () => {
  const who = keyAuth.as("manager");
  const expiry = { at: { case: "timestamp" as const, value: { seconds: BigInt(START / 1000 + 60), nanos: 0 } } };
  const { keyId, secret: old } = await keyAuth.newKey({ expiry });
  const rotate = (overlapSeconds: number) => keyAuth.keys().rotateKey({ keyId, overlapSeconds }, who);
  expect(await codeOf(rotate(7 * DAY_S + 1))).toBe(Code.InvalidArgument);
  const rotated = await rotate(7 * DAY_S);
  expect(rotated.key?.previousSecretValidUntil?.seconds).toBe(BigInt(START / 1000 + 60));
  // Later moves of the expiry do not bring the old secret back.
  await keyAuth.keys().updateKey({ keyId, expiry: { at: { case: undefined } } }, who);
  now = START + 60_000;
  expect(await opens(old)).toBe(false);
  expect(await opens(rotated.secret)).toBe(true);
});

test("[KEY] while Redis is down a rotation changes nothing: the secret in use stays valid", async () => {
  await using redis = await testRedis();
  await using own = await runKeyAuth({ redisUrl: redis.url });
  const { keyId, secret } = await own.newKey();
  await redis.kill();
  expect(await codeOf(own.keys().rotateKey({ keyId }, own.as("manager")))).toBe(Code.Unavailable);
  expect(await own.verify(secret)).toBeDefined();
});
