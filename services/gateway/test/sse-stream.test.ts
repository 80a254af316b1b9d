import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import { OpenStreams } from "../src/http/chat/open-streams.ts";
import { SseStream } from "../src/http/chat/sse-stream.ts";
import { listen } from "./test-server.ts";

interface Times {
  heartbeatMs: number;
  maxWaitMs: number;
}

/** A server that lets `respond` send every response. */
async function serving({ heartbeatMs, maxWaitMs }: Times, respond: (sse: SseStream) => Promise<void>) {
  const app = fastify();
  const streams = new OpenStreams();
  const opened: SseStream[] = [];
  app.get("/", (_, reply) => {
    const sse = new SseStream(reply, { kind: "answer", streams, heartbeatMs, maxWaitMs });
    opened.push(sse);
    void respond(sse);
  });
  const port = await listen(app);
  /** Sends a request whose response is not read until resume. */
  const request = async (version = "1.1") => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    socket.pause().write(`GET / HTTP/${version}\r\nhost: a\r\n\r\n`);
    await eventually(() => expect(opened.length).toBeGreaterThan(0));
    return socket;
  };
  return {
    opened,
    request,
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      streams.close();
      streams[Symbol.dispose]();
      await app.close();
    },
  };
}

/** Without a heartbeat within the test. */
const IDLE: Times = { heartbeatMs: 600_000, maxWaitMs: 20_000 };

/** More than the buffers of a connection can take. */
const LONG = "x".repeat(12_000_000);

test("[CHAT-36] a client that does not read the end gets no heartbeat after it, and is cut", async () => {
  await using server = await serving({ heartbeatMs: 5, maxWaitMs: 300 }, async (sse) => {
    // Fills the connection's buffers without reaching the limit at which a slow client is cut.
    while (sse.backlogBytes < 100_000) {
      await sse.send(LONG.slice(0, 60_000), { replayed: false });
      await turn();
    }
    sse.end();
    sse.end();
    await sse.send("late", { replayed: false });
  });
  const socket = await server.request();
  await eventually(() => expect(server.opened[0]?.signal.aborted).toBe(true));
  socket.destroy();
});

test("[CHAT-17] a long message that is replayed waits for a slow reader, without a heartbeat within it", async () => {
  await using server = await serving({ heartbeatMs: 5, maxWaitMs: 20_000 }, async (sse) => {
    await sse.send(`data: ${LONG}ä\n\n`, { replayed: true });
    sse.end();
  });
  const socket = await server.request();
  let text = "";
  socket.resume().on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  await eventually(() => expect(text.endsWith("\r\n0\r\n\r\n")).toBe(true));
  socket.destroy();
  expect((await (await fetch(server.url)).text()).endsWith(`\ndata: ${LONG}ä\n\n`)).toBe(true);
});

test("a replay that nobody reads is cut", async () => {
  await using server = await serving({ heartbeatMs: 5, maxWaitMs: 50 }, (sse) => sse.send(LONG, { replayed: true }));
  const socket = await server.request();
  await eventually(() => expect(server.opened[0]?.signal.aborted).toBe(true));
  socket.destroy();
});

test("[CHAT-16] [CHAT-36] a stream begins with a comment, and others follow while it is silent", async () => {
  await using server = await serving({ heartbeatMs: 5, maxWaitMs: 20_000 }, async (sse) => sse.open());
  const response = await fetch(server.url);
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes(": heartbeat\n")) break;
  }
  expect(text).toMatch(/^: open\n/);
});

test("[CHAT-16] the head says that the connection ends with the stream, and HTTP/1.0 gets no chunks", async () => {
  await using server = await serving(IDLE, async (sse) => {
    await sse.send("data: ä\n\n", { replayed: false });
    sse.end();
  });
  const read = async (version: string) => {
    const socket = await server.request(version);
    let text = "";
    for await (const chunk of socket.resume()) text += chunk;
    socket.destroy();
    return text;
  };
  const newer = await read("1.1");
  expect(newer).toMatch(/^connection: close\r$/im);
  expect(newer.endsWith("\r\na\r\ndata: ä\n\n\r\n0\r\n\r\n")).toBe(true);
  const older = await read("1.0");
  expect(older).not.toMatch(/transfer-encoding/i);
  expect(older.endsWith("\r\n\r\n: open\nretry: 1000\ndata: ä\n\n")).toBe(true);
});

test("[CHAT] a client that ends its side of the connection has left, whatever else it has sent", async () => {
  await using server = await serving(IDLE, async (sse) => sse.open());
  const socket = await server.request();
  await once(socket, "readable");
  socket.end("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await eventually(() => expect(server.opened[0]?.signal.aborted).toBe(true));
  socket.destroy();
});
