import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { floodWith, rawReceiver } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

const HEAD = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const LIMIT_BYTES = 65_536;
/** Long enough for what a receiver sends first to arrive, also on a busy machine. */
const SHORT_DEADLINE_MS = 10_000;
/** Bytes that may be in the buffers of two sockets on one machine, in addition to what was read. */
const MAX_IN_BUFFERS_BYTES = 16 * 1024 * 1024;

const tooLarge = { kind: "connection-error", code: "headers-too-large" };
const notHttp = { kind: "connection-error", code: "protocol" };
const cut = { kind: "response", status: 200, truncated: "size" };

const FLOODS: readonly [title: string, head: string, filler: string, expected: object][] = [
  ["[OUT-14] a body of 100 MB", `${HEAD}content-length: 104857600\r\n\r\n`, "x".repeat(65_536), cut],
  ["[OUT-14] a body without length", `${HEAD}\r\n`, "x".repeat(65_536), cut],
  ["[OUT-14] large chunks without end", CHUNKED, `10000\r\n${"x".repeat(65_536)}\r\n`, cut],
  ["[OUT-14] chunks of one byte without end", CHUNKED, "1\r\nx\r\n".repeat(10_000), cut],
  ["[OUT-14] a chunk of 2^60 bytes", `${CHUNKED}1000000000000000\r\n`, "x".repeat(65_536), cut],
  ["[OUT-14] a chunk size without end", CHUNKED, "0".repeat(65_536), { status: 200, truncated: "connection" }],
  ["[OUT-14] trailers without end", `${CHUNKED}1\r\nx\r\n0\r\n`, "x-t: y\r\n".repeat(8_192), { status: 200 }],
  ["[OUT-38] header lines without end", HEAD, "x-flood: abcdefgh\r\n".repeat(100), tooLarge],
  ["[OUT-38] one header value without end", `${HEAD}x: `, "h".repeat(65_536), tooLarge],
  ["[OUT-38] one header name without end", HEAD, "h".repeat(65_536), tooLarge],
  ["[OUT-38] a folded header without end", `${HEAD}x: y\r\n`, " z\r\n".repeat(16_384), { kind: "connection-error" }],
  ["[OUT-38] a reason phrase without end", "HTTP/1.1 200 ", "A".repeat(65_536), { kind: "connection-error" }],
  ["[OUT-38] blank lines before the status line without end", "", "\r\n".repeat(32_768), { kind: "connection-error" }],
  [
    "[OUT-38] 100 Continue without end",
    "",
    "HTTP/1.1 100 Continue\r\n\r\n".repeat(2_000),
    { kind: "connection-error" },
  ],
  ["[OUT-38] 103 Early Hints without end", "", "HTTP/1.1 103 Hints\r\nlink: </x>\r\n\r\n".repeat(2_000), notHttp],
  ["[OUT-38] endless bytes that are not HTTP", "", "\u0000\u00ff".repeat(32_768), notHttp],
];

test.each(FLOODS)("%s: reading stops, the connection is closed", async (_title, head, filler, expected) => {
  const flood = floodWith(head, filler);
  await using receiver = await rawReceiver(flood.onSocket);
  await using safeFetch = loopbackFetch();
  const result = await safeFetch.send(post(`http://127.0.0.1:${receiver.port}/`, { reuseKey: "k" }));
  expect(result).toMatchObject(expected);
  if (result.kind === "response") expect(result.body.length).toBeLessThanOrEqual(LIMIT_BYTES);
  await eventually(() => receiver.open.size === 0);
  expect(flood.acceptedBytes()).toBeLessThan(MAX_IN_BUFFERS_BYTES);
});

test("[OUT] endless bytes after the response are not read, and their connection is not used again", async () => {
  const flood = floodWith(`${HEAD}content-length: 2\r\n\r\nok`, "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil");
  await using receiver = await rawReceiver(flood.onSocket);
  await using safeFetch = loopbackFetch();
  for (let sent = 1; sent <= 3; sent++) {
    const result = await safeFetch.send(post(`http://127.0.0.1:${receiver.port}/`, { reuseKey: "k" }));
    expect(result).toMatchObject({ kind: "response", status: 200, body: Buffer.from("ok") });
    await eventually(() => receiver.open.size === 0);
    expect(receiver.opened()).toBe(sent);
  }
  expect(flood.acceptedBytes()).toBeLessThan(3 * MAX_IN_BUFFERS_BYTES);
});

test("[OUT-14] a gzip bomb is not decompressed: the bytes are kept as sent, up to the limit", async () => {
  const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  await using receiver = await rawReceiver((socket) =>
    socket.once("data", () => {
      socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    }),
  );
  await using safeFetch = loopbackFetch();
  const result = await safeFetch.send(post(`http://127.0.0.1:${receiver.port}/`, { maxResponseBytes: 131_072 }));
  expect(result).toMatchObject({ kind: "response", headers: { "content-encoding": "gzip" }, truncated: false });
  expect(result.kind === "response" && result.body.equals(bomb)).toBe(true);
});

/** Sends `text` for ever, a piece every few milliseconds. */
const dripping = (head: string, text: string) => (socket: Socket) => {
  socket.resume();
  socket.write(head);
  const timer = setInterval(() => socket.write(text), 5);
  socket.on("close", () => clearInterval(timer));
};

test.concurrent.each([
  [
    "nothing",
    (socket: Socket) => socket.resume(),
    { kind: "timeout", phase: "headers", timings: { firstByteMs: null, dnsMs: null } },
  ],
  ["blank lines", dripping("", "\r\n"), { kind: "timeout", phase: "headers" }],
  ["a status line", dripping("HTTP/1.1 200 ", "O"), { kind: "timeout", phase: "headers" }],
  ["header bytes", dripping(`${HEAD}x: `, "y"), { kind: "timeout", phase: "headers" }],
  ["a byte of an interim response", dripping("HTTP/1.1 103 ", "E"), { kind: "timeout", phase: "headers" }],
  ["body bytes", dripping(`${HEAD}content-length: 9999\r\n\r\n`, "z"), { status: 200, truncated: "deadline" }],
  ["chunks", dripping(CHUNKED, "1\r\nz\r\n"), { status: 200, truncated: "deadline" }],
  ["a chunk extension", dripping(`${CHUNKED}1;`, "e"), { status: 200, truncated: "deadline" }],
  ["trailers", dripping(`${CHUNKED}0\r\n`, "x: y\r\n"), { status: 200, truncated: "deadline" }],
])("[OUT-34] a send to a receiver that drips %s ends at the deadline", async (_title, onSocket, expected) => {
  await using receiver = await rawReceiver(onSocket);
  await using safeFetch = loopbackFetch();
  const changes = { reuseKey: "k", deadlineMs: SHORT_DEADLINE_MS };
  expect(await safeFetch.send(post(`http://127.0.0.1:${receiver.port}/`, changes))).toMatchObject(expected);
  await eventually(() => receiver.open.size === 0);
});

test.each([
  ["body bytes", `${HEAD}content-length: 9999\r\n\r\n`, "z"],
  ["chunks", CHUNKED, "1\r\nz\r\n"],
])(
  "[OUT-34] the time for a body ends a response that drips %s long before the deadline",
  async (_title, head, text) => {
    await using receiver = await rawReceiver(dripping(head, text));
    await using safeFetch = loopbackFetch();
    const changes = { reuseKey: "k", deadlineMs: 600_000, bodyDeadlineMs: 100 };
    expect(await safeFetch.send(post(`http://127.0.0.1:${receiver.port}/`, changes))).toMatchObject({
      kind: "response",
      status: 200,
      truncated: "deadline",
    });
    await eventually(() => receiver.open.size === 0);
  },
);
