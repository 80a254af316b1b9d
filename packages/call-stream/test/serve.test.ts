import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import type { CallBatch, ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { CallBatchSchema, CallSchema } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { VerifyRequestSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { currentRequestId } from "@toolgate/telemetry/request";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { MAX_MESSAGE_BYTES, neverSent } from "../src/call.ts";
import { streamTransport } from "../src/transport.ts";
import { ask, failureOf, responseTo, verifyClient } from "./verify-client.ts";
import { startVerifyServer } from "./verify-server.ts";

const LONG_MS = 120_000;
/** After a drain without a grace time, any time will do. */
const GRACE_OVER_MS = 50;

function batch(ids: number[], tool: string): CallBatch {
  const request = toBinary(VerifyRequestSchema, ask(tool));
  return create(CallBatchSchema, { calls: ids.map((id) => create(CallSchema, { id, request })) });
}

function outcomes(replies: readonly ReplyBatch[]): Map<number, string> {
  const frames = replies.flatMap((received) => received.replies);
  return new Map(frames.map(({ id, result }) => [id, result.case === "failure" ? `${Code[result.value.code]}` : "ok"]));
}

/** Speaks the frames itself: sends the batches, and reads until the server has ended the stream. */
async function exchange(
  address: string,
  batches: (replies: readonly ReplyBatch[]) => AsyncIterable<CallBatch>,
): Promise<ReplyBatch[]> {
  using transport = streamTransport(address);
  const replies: ReplyBatch[] = [];
  const stream = createClient(VerifyService, transport).verifyCalls(batches(replies));
  for await (const received of stream) replies.push(received);
  return replies;
}

test("a server refuses the calls above its limit", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await using server = await startVerifyServer(({ tool }) => released.then(() => responseTo(tool)), {
    limits: { maxInFlight: 2 },
  });
  const replies = await exchange(server.address, async function* (received) {
    yield batch([1, 2, 3], "a");
    await eventually(() => outcomes(received).has(3));
    release();
  });
  const expected = { 1: "ok", 2: "ok", 3: "ResourceExhausted" };
  expect(Object.fromEntries(outcomes(replies))).toEqual(expected);
});

test("a request that cannot be decoded fails no other call", async () => {
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  const bad = create(CallBatchSchema, { calls: [{ id: 9, request: Uint8Array.of(0xff, 0xff) }] });
  const replies = await exchange(server.address, async function* () {
    yield bad;
    yield batch([1], "good");
  });
  expect(Object.fromEntries(outcomes(replies))).toEqual({ 9: "InvalidArgument", 1: "ok" });
});

test("a handler gets the request id of its call, or none if it is malformed", async () => {
  const seen = new Map<string, string>();
  await using server = await startVerifyServer(async ({ tool }) => {
    seen.set(tool, currentRequestId());
    return responseTo(tool);
  });
  const requestIds = { valid: "req-1", lineBreak: "req\n1", tooLong: "x".repeat(129), none: "" };
  const calls = Object.entries(requestIds).map(([tool, requestId], id) => ({
    id,
    request: toBinary(VerifyRequestSchema, ask(tool)),
    requestId,
  }));
  await exchange(server.address, async function* () {
    yield create(CallBatchSchema, { calls });
  });
  expect(Object.fromEntries(seen)).toEqual({ valid: "req-1", lineBreak: "", tooLong: "", none: "" });
});

test("calls after the grace time of a drain are refused without running, and cannot stop the server from draining", async () => {
  const ran: string[] = [];
  let release: (() => void) | undefined;
  await using server = await startVerifyServer(
    ({ tool }) => {
      ran.push(tool);
      return new Promise((resolve) => (release = () => resolve(responseTo(tool))));
    },
    { limits: { drainGraceMs: 0 } },
  );
  let replies: readonly ReplyBatch[] = [];
  let drained: Promise<void> | undefined;
  const exchanged = exchange(server.address, async function* (received) {
    replies = received;
    yield batch([1], "open");
    await eventually(() => release !== undefined);
    drained = server.drain();
    await eventually(() => received.some((reply) => reply.goingAway));
    await delay(GRACE_OVER_MS);
    for (let id = 2; drained !== undefined; id += 1) {
      yield batch([id], "after");
      if (outcomes(received).has(id - 1)) release?.();
      await delay(2);
    }
  });
  // The stream ends while the client is still sending, which HTTP/2 reports to it as a reset or as an end.
  await exchanged.catch(() => undefined);
  await drained;
  const all = outcomes(replies);
  expect(all.get(1)).toBe("ok");
  all.delete(1);
  expect(new Set(all.values())).toEqual(new Set(["Unavailable"]));
  expect(ran).toEqual(["open"]);
});

test("a request that cannot be encoded fails its call, which was never sent", async () => {
  await using client = verifyClient(() => []);
  const error = await failureOf(client.call(ask("t", "no bytes" as never), { timeoutMs: LONG_MS }));
  expect([error.code, error.rawMessage, neverSent(error)]).toEqual([
    Code.Internal,
    "the request cannot be encoded",
    true,
  ]);
});

test("a client refuses calls while 64 MiB of requests wait; those that were sent or have ended do not count", async () => {
  const addresses: string[] = [];
  const held: (() => void)[] = [];
  await using client = verifyClient(() => addresses);
  const big = new Uint8Array(4_000_000);
  const gone = new AbortController();
  const call = (signal?: AbortSignal) => client.call(ask("t", big), { timeoutMs: LONG_MS, signal });
  const cancelled = failureOf(call(gone.signal));
  const calls = Array.from({ length: 16 }, () => call());
  const refused = await failureOf(call());
  const expected = [Code.ResourceExhausted, "too many requests wait to be sent", true];
  expect([refused.code, refused.rawMessage, neverSent(refused)]).toEqual(expected);
  gone.abort();
  await cancelled;
  calls.push(call());
  expect((await failureOf(call())).rawMessage).toBe(refused.rawMessage);
  await using server = await startVerifyServer(
    ({ tool }) => new Promise((resolve) => held.push(() => resolve(responseTo(tool)))),
  );
  addresses.push(server.address);
  await eventually(() => held.length === calls.length);
  calls.push(call());
  await eventually(() => held.length === calls.length);
  for (const release of held) release();
  for (const { key } of await Promise.all(calls)) expect(key?.keyName).toBe("t");
  // Within one turn nothing is sent.
  const next = Array.from({ length: 17 }, () => failureOf(call()));
  expect((await failureOf(call())).rawMessage).toBe(refused.rawMessage);
  await client[Symbol.asyncDispose]();
  await Promise.all(next);
});

test("a message that is too large fails its own call only, in either direction", async () => {
  const big = "x".repeat(MAX_MESSAGE_BYTES);
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool, tool === "grow" ? big : ""));
  await using client = verifyClient(() => [server.address]);
  const call = (tool: string) => client.call(ask(tool), { timeoutMs: LONG_MS });
  const [grown, huge, small] = [failureOf(call("grow")), failureOf(call(big)), call("small")];
  expect([(await grown).code, neverSent(await grown)]).toEqual([Code.ResourceExhausted, false]);
  expect([(await huge).code, neverSent(await huge)]).toEqual([Code.ResourceExhausted, true]);
  expect((await small).key?.keyName).toBe("small");
  const largest = "y".repeat(MAX_MESSAGE_BYTES - 100);
  expect((await call(largest)).key?.keyName.length).toBe(largest.length);
});
