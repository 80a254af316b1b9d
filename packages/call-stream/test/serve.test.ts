import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import type { CallBatch, ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { CallBatchSchema, CallSchema } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { VerifyRequestSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { MAX_MESSAGE_BYTES, neverSent } from "../src/call.ts";
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

test("a request that cannot be decoded fails no other call", async () => {
  await using server = await startVerifyServer(async ({ tool }) => responseTo(tool));
  const bad = create(CallBatchSchema, { calls: [{ id: 9, request: Uint8Array.of(0xff, 0xff), timeoutMs: LONG_MS }] });
  const replies = await exchange(server.address, async function* () {
    yield bad;
    yield batch([1], "good");
  });
  expect(Object.fromEntries(outcomes(replies))).toEqual({ 9: "InvalidArgument", 1: "ok" });
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
