import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import type { OpenRequest, OpenResult } from "../src/open.ts";
import { BodyCut } from "../src/result.ts";
import { floodWith, httpReceiver, rawReceiver, respondWith } from "./receivers.ts";
import { loopbackFetch } from "./sending.ts";

/** Longer than a test may last, so that only the limit that a test sets can end a request. */
const LONG_MS = 120_000;
/** Long enough to connect and for what a receiver sends first to arrive, also on a busy machine. */
const SHORT_MS = 1_000;

function opening(port: number, changes: Partial<OpenRequest> = {}): OpenRequest {
  return {
    url: `http://127.0.0.1:${port}/`,
    method: "POST",
    workspaceId: "w",
    headers: { "content-type": "application/json" },
    body: "{}",
    connectMs: LONG_MS,
    firstByteMs: LONG_MS,
    idleMs: LONG_MS,
    deadlineMs: LONG_MS,
    maxResponseBytes: 1_048_576,
    ...changes,
  };
}

function bodyOf(result: OpenResult): ReadableStream<Uint8Array> {
  if (result.kind !== "response") throw new Error(`no response: ${JSON.stringify(result)}`);
  return result.body;
}

async function readAll(result: OpenResult): Promise<string> {
  return await new Response(bodyOf(result)).text();
}

/** Why reading ended early, and what had come by then. */
async function readCut(result: OpenResult): Promise<{ text: string; reason: string }> {
  let text = "";
  try {
    for await (const chunk of bodyOf(result)) text += Buffer.from(chunk).toString();
  } catch (error) {
    if (error instanceof BodyCut) return { text, reason: error.reason };
    throw error;
  }
  return { text, reason: "whole" };
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const endIn = (text: string) => (socket: Socket) =>
  void socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${text}`));

test("[SSRF-6] a body is read while it arrives", async () => {
  let response: ServerResponse | undefined;
  await using receiver = await httpReceiver((_request, to) => {
    response = to;
    to.writeHead(200, { "x-model": "m" }).write("one");
  });
  await using safeFetch = loopbackFetch();
  const result = await safeFetch.open(opening(receiver.port));
  expect(result).toMatchObject({ kind: "response", status: 200, headers: { "x-model": "m" } });
  const reader = bodyOf(result).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("one");
  response?.end("two");
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("two");
  expect((await reader.read()).done).toBe(true);
});

test("a connection with a complete body is used again, and one whose body was cancelled is closed", async () => {
  await using receiver = await httpReceiver((_request, response) => {
    response.write("x");
    if (receiver.opened() === 1) response.end();
  });
  await using safeFetch = loopbackFetch();
  const request = opening(receiver.port, { reuseKey: "k" });
  expect(await readAll(await safeFetch.open(request))).toBe("x");
  await eventually(() => receiver.open.size === 1);
  const again = await safeFetch.open(request);
  expect(again.timings.reused).toBe(true);
  expect(await readAll(again)).toBe("x");
  const [socket] = receiver.open;
  socket?.destroy();
  await eventually(() => receiver.open.size === 0);
  const third = await safeFetch.open(request);
  expect(receiver.opened()).toBe(2);
  await bodyOf(third).cancel();
  await eventually(() => receiver.open.size === 0);
});

test.concurrent.each([
  ["no status line", { firstByteMs: SHORT_MS }, { kind: "timeout", phase: "headers" }],
  ["no TLS handshake", { connectMs: SHORT_MS }, { kind: "timeout", phase: "tls" }],
  ["nothing before the deadline", { deadlineMs: SHORT_MS }, { kind: "timeout", phase: "headers" }],
])("[OUT-34] %s ends the request in time, and closes the connection", async (_title, changes, expected) => {
  await using receiver = await rawReceiver((socket) => socket.resume());
  await using safeFetch = loopbackFetch();
  const url = "connectMs" in changes ? `https://127.0.0.1:${receiver.port}/` : `http://127.0.0.1:${receiver.port}/`;
  expect(await safeFetch.open(opening(receiver.port, { url, ...changes }))).toMatchObject(expected);
  await eventually(() => receiver.open.size === 0);
});

test.concurrent.each([
  ["no first byte", respondWith(HEAD), { firstByteMs: SHORT_MS }, { text: "", reason: "deadline" }],
  ["a stall between two parts", respondWith(`${HEAD}abc`), { idleMs: SHORT_MS }, { text: "abc", reason: "deadline" }],
  ["no end in time", respondWith(`${HEAD}abc`), { deadlineMs: SHORT_MS }, { text: "abc", reason: "deadline" }],
  ["an end of the connection", endIn("abc"), {}, { text: "abc", reason: "connection" }],
])("[OUT-34] %s cuts the body, and closes the connection", async (_title, onSocket, changes, cut) => {
  await using receiver = await rawReceiver(onSocket);
  await using safeFetch = loopbackFetch();
  expect(await readCut(await safeFetch.open(opening(receiver.port, changes)))).toEqual(cut);
  await eventually(() => receiver.open.size === 0);
});

test("[OUT-34] a body that drips outlives the idle limit and ends at the deadline", async () => {
  await using receiver = await rawReceiver((socket) => {
    socket.write(HEAD);
    const timer = setInterval(() => socket.write("."), 20);
    socket.on("close", () => clearInterval(timer));
  });
  await using safeFetch = loopbackFetch();
  const began = performance.now();
  const cut = await readCut(await safeFetch.open(opening(receiver.port, { idleMs: 2_000, deadlineMs: 3_000 })));
  expect(cut.reason).toBe("deadline");
  expect(performance.now() - began).toBeGreaterThan(2_900);
});

test("the receiver sees immediately that the caller has aborted, and disposing does the same", async () => {
  await using receiver = await rawReceiver(respondWith(`${HEAD}abc`));
  const safeFetch = loopbackFetch();
  const stop = new AbortController();
  const aborted = await safeFetch.open(opening(receiver.port, { signal: stop.signal }));
  stop.abort();
  expect(await readCut(aborted)).toMatchObject({ reason: "aborted" });
  await eventually(() => receiver.open.size === 0);
  const open = await safeFetch.open(opening(receiver.port));
  await safeFetch[Symbol.asyncDispose]();
  expect(await readCut(open)).toMatchObject({ reason: "aborted" });
  expect((await safeFetch.open(opening(receiver.port))).kind).toBe("aborted");
  await eventually(() => receiver.open.size === 0);
});

test("[OUT-14] a body is cut at its limit, and a slow reader slows the receiver down", async () => {
  const flood = floodWith(HEAD, Buffer.alloc(65_536, "x"));
  await using receiver = await rawReceiver(flood.onSocket);
  await using safeFetch = loopbackFetch();
  const cut = await readCut(await safeFetch.open(opening(receiver.port)));
  expect(cut.reason).toBe("size");
  expect(cut.text.length).toBeLessThanOrEqual(1_048_576);
  const slow = await safeFetch.open(opening(receiver.port, { maxResponseBytes: 1e9, idleMs: SHORT_MS }));
  let accepted = -1;
  await eventually(() => {
    const before = accepted;
    accepted = flood.acceptedBytes();
    return accepted === before;
  });
  expect(accepted).toBeLessThan(32 * 1_048_576);
  // The time that the reader takes is not idle time.
  await sleep(SHORT_MS + 500);
  const reader = bodyOf(slow).getReader();
  for (let read = 0; read < 4 * 1_048_576; ) read += (await reader.read()).value?.length ?? 0;
  await reader.cancel();
  await eventually(() => receiver.open.size === 0);
});
