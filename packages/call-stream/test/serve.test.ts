import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import type { CallBatch, ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { CallBatchSchema, CallSchema } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { VerifyRequestSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { currentRequestId } from "@toolgate/telemetry/request";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { neverSent } from "../src/call.ts";
import { MAX_MESSAGE_BYTES } from "../src/limits.ts";
import { streamTransport } from "../src/transport.ts";
import { ask, failureOf, responseTo, verifyClient } from "./verify-client.ts";
import { startVerifyServer } from "./verify-server.ts";

const LONG_MS = 20_000;

function batch(ids: number[], tool: string, timeoutMs = LONG_MS, cancelled: number[] = []): CallBatch {
  const request = toBinary(VerifyRequestSchema, ask(tool));
  return create(CallBatchSchema, { calls: ids.map((id) => create(CallSchema, { id, request, timeoutMs })), cancelled });
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

test("a stream opens with an empty batch, replies to each call once and ends after the last reply", async () => {
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  const replies = await exchange(server.address, async function* (received) {
    await eventually(() => received.length === 1);
    yield batch([1, 2, 3], "a");
    yield batch([4, 5], "b");
  });
  expect(replies[0]?.replies).toEqual([]);
  expect(replies.flatMap((received) => received.replies.map((reply) => reply.id)).sort()).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(outcomes(replies).values())).toEqual(new Set(["ok"]));
});

test("a server refuses the calls above its limit, counting handlers that still run after a cancel", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await using server = await startVerifyServer(({ tool }) => released.then(() => responseTo(tool)), {
    limits: { maxInFlight: 2 },
  });
  const replies = await exchange(server.address, async function* (received) {
    yield batch([1, 2, 3], "a");
    yield batch([], "", 0, [1]);
    yield batch([4], "a");
    await eventually(() => outcomes(received).has(4));
    release();
  });
  const expected = { 2: "ok", 3: "ResourceExhausted", 4: "ResourceExhausted" };
  expect(Object.fromEntries(outcomes(replies))).toEqual(expected);
});

test("a server has its own upper limit on deadlines, also for calls without one", async () => {
  await using server = await startVerifyServer(() => new Promise(() => undefined), { limits: { maxTimeoutMs: 30 } });
  const replies = await exchange(server.address, async function* () {
    yield batch([1], "long", 86_400_000);
    yield batch([2], "none", 0);
  });
  expect(Object.fromEntries(outcomes(replies))).toEqual({ 1: "DeadlineExceeded", 2: "DeadlineExceeded" });
});

test("a request that cannot be decoded fails no other call", async () => {
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  const bad = create(CallBatchSchema, { calls: [{ id: 9, request: Uint8Array.of(0xff, 0xff), timeoutMs: LONG_MS }] });
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
    timeoutMs: LONG_MS,
    requestId,
  }));
  await exchange(server.address, async function* () {
    yield create(CallBatchSchema, { calls });
  });
  expect(Object.fromEntries(seen)).toEqual({ valid: "req-1", lineBreak: "", tooLong: "", none: "" });
});

test("an id that is already open ends the stream", async () => {
  await using server = await startVerifyServer(() => new Promise(() => undefined));
  const error = await failureOf(
    exchange(server.address, async function* () {
      yield batch([1, 1], "twice");
      await new Promise(() => undefined);
    }),
  );
  expect([error.code, error.rawMessage]).toEqual([Code.InvalidArgument, "call 1 is already open"]);
});

test("a client that keeps sending after the grace time of a drain is refused, and cannot stop the server from draining", async () => {
  let release: (() => void) | undefined;
  await using server = await startVerifyServer(
    ({ tool }) => new Promise((resolve) => (release = () => resolve(responseTo(tool)))),
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
    for (let id = 2; drained !== undefined; id += 1) {
      yield batch([id], "after");
      if (outcomes(received).has(id - 1)) release?.();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  });
  // The stream ends while the client is still sending, which HTTP/2 reports to it as a reset or as an end.
  await exchanged.catch(() => undefined);
  await drained;
  expect(outcomes([...replies]).get(1)).toBe("ok");
  expect([...outcomes([...replies]).values()].filter((outcome) => outcome === "Unavailable").length).toBeGreaterThan(0);
});

test("a server takes no more calls from a client that does not read, which gets all replies once it does", async () => {
  let taken = 0;
  const big = "x".repeat(10_000);
  await using server = await startVerifyServer(
    async ({ tool }) => {
      taken += 1;
      return responseTo(tool, big);
    },
    { limits: { maxInFlight: 100 } },
  );
  using transport = streamTransport(server.address);
  let sent = 0;
  let sending = true;
  const ten = [...Array(10).keys()];
  const batches = (async function* () {
    for (; sending && sent < 10_000; sent += 10)
      yield batch(
        ten.map((i) => sent + i + 1),
        "t",
      );
  })();
  const replies = createClient(VerifyService, transport).verifyCalls(batches)[Symbol.asyncIterator]();
  const first = await replies.next();
  let seen = 0;
  await eventually(() => {
    const still = seen === taken && taken > 0;
    seen = taken;
    return still;
  });
  // 1 MiB of window is room for about 105 replies of 10 kB, 100 more may wait in the server, the rest is in buffers
  // between.
  expect(taken).toBeLessThan(2_000);
  sending = false;
  const all: ReplyBatch[] = [first.value];
  for (let next = await replies.next(); next.done !== true; next = await replies.next()) all.push(next.value);
  expect(outcomes(all).size).toBe(sent);
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
