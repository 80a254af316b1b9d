import { once } from "node:events";
import { connect } from "node:net";
import { createRouterTransport } from "@connectrpc/connect";
import { connectBus } from "@toolgate/event-bus/connect";
import { ChatService, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listen, testServer } from "./test-server.ts";

let nats: Awaited<ReturnType<typeof testNats>>;
let bus: Awaited<ReturnType<typeof connectBus>>;
beforeAll(async () => {
  nats = await testNats();
  bus = await connectBus({ servers: nats.url, name: "test" });
});
afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await nats[Symbol.asyncDispose]();
});

const HEADERS = { authorization: "Bearer a-token" };

/**
 * A gateway in front of a chat service whose streams begin but send nothing more, and whose answers fail with a code.
 */
async function serving(code: string) {
  const keyAuth = createRouterTransport(({ service }) => {
    service(SessionService, {
      authorize: ({ token }) => ({ userId: token, workspaceId: "w", workspace: "acme", role: Role.MEMBER }),
    });
  });
  const chat = createRouterTransport(({ service }) => {
    service(ChatService, {
      readEvents: ({ position }) => ({ position, more: ReadMore.LIVE, turnRunning: true }),
      sendMessage: () => ({ error: { code, message: "no" } }),
    });
  });
  const app = await testServer({ transports: { "key-auth": keyAuth, chat }, bus });
  const url = `http://127.0.0.1:${await listen(app)}`;
  return {
    url,
    resume: (signal: AbortSignal, headers = HEADERS) =>
      fetch(`${url}/chat/resume?tenant=acme&chat_id=c&last_event_id=0`, { headers, signal }),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

test("[CHAT] the 21st open stream of a user gets 429 with Retry-After until another one ends", async () => {
  await using server = await serving("");
  const left = new AbortController();
  const { signal } = new AbortController();
  for (let number = 0; number < 20; number += 1)
    expect((await server.resume(number === 0 ? left.signal : signal)).status).toBe(200);
  const refused = await server.resume(signal);
  expect({ status: refused.status, retryAfter: refused.headers.get("retry-after") }).toEqual({
    status: 429,
    retryAfter: "5",
  });
  expect(await refused.json()).toMatchObject({ error: { code: "RATE_LIMITED" } });
  expect((await server.resume(signal, { authorization: "Bearer another" })).status).toBe(200);
  left.abort();
  await eventually(async () => expect((await server.resume(signal)).status).toBe(200));
});

test("[CHAT] a stream behind another one on the same connection is never opened, and takes no slot", async () => {
  await using server = await serving("");
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const request =
    "GET /chat/resume?tenant=acme&chat_id=c&last_event_id=0 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\n\r\n";
  await once(
    socket.on("connect", () => socket.write(request.repeat(21))),
    "data",
  );
  socket.destroy();
  await once(socket, "close");
  const headers = { authorization: "Bearer a" };
  const { signal } = new AbortController();
  for (let number = 0; number < 20; number += 1)
    await eventually(async () => expect((await server.resume(signal, headers)).status).toBe(200));
});

test.each([
  ["BUDGET_EXCEEDED", 429],
  ["CHAT_RESET", 500],
  ["MODEL_FAILED", 500],
])("[CHAT-51] [CHAT-53] an answer that ended with %s has status %i", async (code, status) => {
  await using server = await serving(code);
  const response = await fetch(`${server.url}/chat/index`, {
    method: "POST",
    headers: { ...HEADERS, "content-type": "application/json" },
    body: '{"tenant":"acme","chat_id":"c","message":"hi"}',
  });
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ error: { code, message: "no" } });
});
