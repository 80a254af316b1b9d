import type { Socket } from "node:net";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { httpReceiver, rawReceiver, respondWith } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

const HEAD = "HTTP/1.1 200 OK\r\n";
/** Long enough for what a receiver sends first to arrive, also on a busy machine. */
const SHORT_DEADLINE_MS = 2_000;

/** Sends once to a raw receiver and says how that ended; anything but a complete response must close the connection. */
async function sendTo(onSocket: (socket: Socket) => void, changes: Parameters<typeof post>[1] = {}) {
  await using receiver = await rawReceiver(onSocket);
  await using safeFetch = loopbackFetch();
  const result = await safeFetch.send(post(`http://127.0.0.1:${receiver.port}/`, { reuseKey: "k", ...changes }));
  for (const socket of receiver.open) socket.resume();
  if (result.kind !== "response" || result.truncated !== false) await eventually(() => receiver.open.size === 0);
  return result;
}

test("[OUT-34] a receiver that does not read a large body is a timeout while sending", async () => {
  const body = Buffer.alloc(64 * 1024 * 1024);
  const result = await sendTo((socket) => socket.pause(), { body, deadlineMs: SHORT_DEADLINE_MS });
  expect(result).toMatchObject({ kind: "timeout", phase: "send" });
});

test("[OUT-14] a body of exactly the limit is complete, one byte more is cut", async () => {
  for (const [length, truncated] of [
    [10, false],
    [11, "size"],
  ] as const) {
    const response = respondWith(`${HEAD}content-length: ${length}\r\n\r\n${"y".repeat(length)}`);
    const result = await sendTo(response, { maxResponseBytes: 10 });
    expect(result).toMatchObject({ kind: "response", truncated, body: Buffer.from("y".repeat(10)) });
  }
});

test("[OUT-33] an interim response is not taken for the final response", async () => {
  const result = await sendTo(
    respondWith("HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 201 Made\r\ncontent-length: 2\r\n\r\nok"),
  );
  expect(result).toMatchObject({ kind: "response", status: 201, truncated: false });
});

test.each([
  ["closes without a word", (socket: Socket) => socket.destroy(), "closed"],
  ["closes in the middle of the headers", (socket: Socket) => socket.end(`${HEAD}x: y`), "closed"],
  ["resets", (socket: Socket) => socket.resetAndDestroy(), "closed"],
  ["speaks first, in another protocol", (socket: Socket) => socket.write("220 mail.example ESMTP\r\n"), "protocol"],
  ["sends two content lengths", respondWith(`${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`), "protocol"],
  [
    "sends length and chunks",
    respondWith(`${HEAD}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    "protocol",
  ],
  ["switches protocols", respondWith("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"), "closed"],
])("[OUT-38] a receiver that %s is a connection error", async (_name, onSocket, code) => {
  expect(await sendTo(onSocket)).toMatchObject({ kind: "connection-error", code });
});

test("[OUT-33] a receiver that closes in the middle of the body has still responded", async () => {
  const onSocket = (socket: Socket) => socket.once("data", () => socket.end(`${HEAD}content-length: 10\r\n\r\nabc`));
  const result = await sendTo(onSocket);
  expect(result).toMatchObject({ kind: "response", status: 200, truncated: "connection", body: Buffer.from("abc") });
});

test("[OUT] hostile header names come through as data", async () => {
  const result = await sendTo(
    respondWith(`${HEAD}__proto__: x\r\nconstructor: y\r\nX-Two: 1\r\nX-Two: 2\r\ncontent-length: 0\r\n\r\n`),
  );
  expect(result.kind === "response" && Object.entries(result.headers)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
    ["x-two", ["1", "2"]],
    ["content-length", "0"],
  ]);
});

test("[OUT-42] a redirect is a response and is not followed", async () => {
  await using inner = await httpReceiver((_request, response) => response.end());
  const location = `http://127.0.0.1:${inner.port}/latest/meta-data`;
  const response = `HTTP/1.1 307 Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;
  expect(await sendTo(respondWith(response))).toMatchObject({ kind: "response", status: 307, headers: { location } });
  expect(inner.opened()).toBe(0);
});

test("[OUT-38] a closed port is refused", async () => {
  const receiver = await rawReceiver(() => undefined);
  await receiver[Symbol.asyncDispose]();
  await using safeFetch = loopbackFetch();
  const result = await safeFetch.send(post(`http://127.0.0.1:${receiver.port}/`));
  expect(result).toMatchObject({ kind: "connection-error", code: "refused", message: "the connection was refused" });
});

test("[OUT-34] a signal ends a send that waits, and disposing ends the others", async () => {
  await using receiver = await rawReceiver((socket) => socket.resume());
  const safeFetch = loopbackFetch();
  const stop = new AbortController();
  const url = `http://127.0.0.1:${receiver.port}/`;
  const signalled = safeFetch.send(post(url, { signal: stop.signal }));
  const left = safeFetch.send(post(url));
  await eventually(() => receiver.opened() === 2);
  stop.abort();
  expect((await signalled).kind).toBe("aborted");
  await safeFetch[Symbol.asyncDispose]();
  expect((await left).kind).toBe("aborted");
  expect((await safeFetch.send(post(url))).kind).toBe("aborted");
  await eventually(() => receiver.open.size === 0);
  expect(receiver.opened()).toBe(2);
});
