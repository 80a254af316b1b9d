import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import { createOpenStreams } from "../src/http/chat/open-streams.ts";
import { SseStream, type StreamTimes } from "../src/http/chat/sse-stream.ts";
import { continued } from "../src/http/chat/upstream.ts";

/** A server that lets `respond` send every response. */
async function serving(times: StreamTimes, respond: (sse: SseStream, raw: ServerResponse) => Promise<void>) {
  const app = fastify();
  const streams = createOpenStreams();
  const opened: SseStream[] = [];
  app.get("/", async (_, reply) => {
    const sse = new SseStream(reply, "answer", streams, times);
    opened.push(sse);
    await respond(sse, reply.raw);
    return reply;
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  /** Sends a request whose response is not read until resume. */
  const request = async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.pause().write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
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

/** More than the buffers of a connection can take. */
const LONG = "x".repeat(12_000_000);

test("[CHAT-36] a client that does not read the end gets no heartbeat after it, and is cut", async () => {
  await using server = await serving({ heartbeatMs: 5, maxWaitMs: 300 }, async (sse, raw) => {
    // Fills the connection's buffers without reaching the limit at which a slow client is cut.
    while (raw.writableLength < 100_000) {
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
  expect((await (await fetch(server.url)).text()).endsWith(`\n\ndata: ${LONG}ä\n\n`)).toBe(true);
});

test("a replay that nobody reads is cut", async () => {
  await using server = await serving({ heartbeatMs: 5, maxWaitMs: 50 }, (sse) => sse.send(LONG, { replayed: true }));
  const socket = await server.request();
  await eventually(() => expect(server.opened[0]?.signal.aborted).toBe(true));
  socket.destroy();
});

test("[CHAT-36] a stream begins with a comment, before its first event", async () => {
  await using server = await serving({ heartbeatMs: 15_000, maxWaitMs: 20_000 }, async (sse) => sse.open());
  const response = await fetch(server.url);
  const { value } = (await response.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).toMatch(/^: open\n/);
});

test("a stream of chat that breaks again and again without a new event fails in the end", async () => {
  let opened = 0;
  const broken = async function* () {
    opened += 1;
    yield 1n;
    throw new ConnectError("broken", Code.Unavailable);
  };
  const open = async () => broken();
  const reading = async () => {
    for await (const _ of continued(open, (id) => id, new AbortController().signal));
  };
  await expect(reading()).rejects.toThrow("broken");
  expect(opened).toBeLessThan(20);
}, 30_000);
