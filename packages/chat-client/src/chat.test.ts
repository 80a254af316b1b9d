import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type ChatOptions, createChat } from "./chat.ts";
import type { ChatEvent } from "./events.ts";

type Respond = (request: IncomingMessage & { url: string }, response: ServerResponse, number: number) => void;

const servers: AsyncDisposableStack[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.disposeAsync();
});

/** A server that responds as the test says, and the requests that it got. */
async function scripted(respond: Respond, options: Partial<ChatOptions> = {}) {
  const requests: { path: string; query: Record<string, string>; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    requests.push({ path: pathname, query: Object.fromEntries(searchParams), headers: request.headers });
    respond(request as IncomingMessage & { url: string }, response, requests.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stack = new AsyncDisposableStack();
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  servers.push(stack);
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const chat = createChat({ baseUrl, tenant: "acme", chatId: "c1", retryMs: 5, ...options });
  return { chat, requests };
}

const part = (id: number, content: string) =>
  `id: ${id}\nevent: message\ndata: ${JSON.stringify({ role: "assistant", content })}\n\n`;
const done = (id: number) => `id: ${id}\nevent: done\ndata: {"resumed":false}\n\n`;
const stream = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });
const cut = (response: ServerResponse, text: string) => response.write(text, () => response.destroy());
const refuse = (response: ServerResponse, status: number, code: string) =>
  response.writeHead(status).end(JSON.stringify({ error: { code, message: "no" } }));

async function all(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const found: ChatEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

function textOf(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.event === "message" ? event.data.content : "")).join("");
}

test("[CHAT] a lost connection is replaced, and what is sent again is left out", async () => {
  const { chat, requests } = await scripted((_, response, number) => {
    stream(response);
    if (number === 1) cut(response, `id: 4\n\n${part(5, "<p>one")}${part(6, " two")}id: 7\nevent: mess`);
    else if (number === 2) cut(response, `id: 4\n\n${part(5, "<p>one")}${part(6, " two")}${part(7, " three")}`);
    else response.end(`${part(8, " four</p>")}${done(9)}`);
  });
  const events = await all(chat.send("hello"));
  expect(events.map(({ id, event }) => [id, event])).toEqual([
    [4, "sent"],
    [5, "message"],
    [6, "message"],
    [7, "message"],
    [8, "message"],
    [9, "done"],
  ]);
  expect(textOf(events)).toBe("<p>one two three four</p>");
  expect(requests.map(({ query }) => query.after_event_id)).toEqual([undefined, "6", "7"]);
  // Otherwise each connection would be a message of its own.
  expect(new Set(requests.map(({ query }) => query.client_message_id)).size).toBe(1);
  expect(requests[2]).toMatchObject({
    path: "/chat/stream",
    query: { tenant: "acme", chat_id: "c1", message: "hello" },
  });
});

test("[CHAT] a stream that ends without done, a proxy's error page and a busy server are tried again", async () => {
  const { chat, requests } = await scripted((_, response, number) => {
    if (number === 1) response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
    else if (number === 2) refuse(response, 500, "INTERNAL");
    else if (number === 3) refuse(response, 429, "RATE_LIMITED");
    else if (number === 4) stream(response).end(part(1, "a"));
    else stream(response).end(`${part(2, "b")}${done(3)}`);
  });
  expect(textOf(await all(chat.send("hello")))).toBe("ab");
  expect(requests).toHaveLength(5);
});

test("[CHAT] a connection on which nothing arrives is replaced", async () => {
  const { chat, requests } = await scripted(
    (_, response, number) => {
      if (number === 1) return;
      stream(response);
      if (number === 2) response.write(part(1, "a"));
      else response.end(`${part(2, "b")}${done(3)}`);
    },
    { silenceMs: 300 },
  );
  expect(textOf(await all(chat.send("hello")))).toBe("ab");
  expect(requests).toHaveLength(3);
});

test("[CHAT] comments show that a connection is alive", async () => {
  const { chat, requests } = await scripted(
    (_, response) => {
      stream(response).write(part(1, "a"));
      let comments = 0;
      const timer = setInterval(() => {
        comments += 1;
        response.write(": heartbeat\n\n");
        if (comments < 20) return;
        clearInterval(timer);
        response.end(done(2));
      }, 50);
    },
    { silenceMs: 500 },
  );
  expect(textOf(await all(chat.send("hello")))).toBe("a");
  expect(requests).toHaveLength(1);
});

test("[CHAT-48] [CHAT-50] a refusal is final, with the server's code", async () => {
  const { chat, requests } = await scripted((_, response) => refuse(response, 403, "FORBIDDEN"));
  await expect(all(chat.send("hello"))).rejects.toMatchObject({ name: "ChatError", status: 403, code: "FORBIDDEN" });
  await expect(chat.history()).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(requests).toHaveLength(2);
});

test("[CHAT-34] [CHAT-49] a refused token is replaced once", async () => {
  const asked: boolean[] = [];
  const { chat, requests } = await scripted(
    ({ headers }, response) => {
      if (headers.authorization !== "Bearer new") return refuse(response, 401, "UNAUTHENTICATED");
      response.end('{"messages":[]}');
    },
    {
      token: async (refused) => {
        asked.push(refused);
        return refused ? "new" : "old";
      },
    },
  );
  expect(await chat.history()).toEqual({ messages: [] });
  expect(asked).toEqual([false, true]);
  expect(requests[0]?.headers.cookie).toBeUndefined();
  const useless = await scripted((_, response) => refuse(response, 401, "UNAUTHENTICATED"), { token: () => "x" });
  await expect(useless.chat.history()).rejects.toMatchObject({ status: 401 });
  expect(useless.requests).toHaveLength(2);
});

test.each([
  ["is lost", (response: ServerResponse) => response.destroy()],
  ["opens and breaks without an event", (response: ServerResponse) => cut(stream(response), ": open\nretry: 1\n\n")],
])("[CHAT] a connection that always %s is not tried for ever", async (_, respond) => {
  const states: boolean[] = [];
  const onConnection = (isConnected: boolean) => void states.push(isConnected);
  const { chat, requests } = await scripted((_, response) => void respond(response), { maxAttempts: 4, onConnection });
  await expect(all(chat.send("hello"))).rejects.toMatchObject({ status: 0, code: "CONNECTION_LOST" });
  expect(requests).toHaveLength(4);
  expect(states.filter((isConnected) => !isConnected)).toHaveLength(4);
});

test("[CHAT] a failed answer is requested twice more, and never again when the workspace has no tokens left", async () => {
  const failing = await scripted((_, response) => refuse(response, 500, "INTERNAL"));
  await expect(all(failing.chat.send("ä".repeat(1_000)))).rejects.toMatchObject({ status: 500, code: "INTERNAL" });
  expect(failing.requests).toHaveLength(3);
  const spent = await scripted((_, response) => refuse(response, 429, "BUDGET_EXCEEDED"));
  const events = await all(spent.chat.send("ä".repeat(1_000)));
  expect(events.map(({ data }) => data)).toEqual([
    { error: { code: "BUDGET_EXCEEDED", message: "no" } },
    { resumed: false },
  ]);
  expect(spent.requests).toHaveLength(1);
});

test("[CHAT] leaving the loop and firing the signal both close the connection", async () => {
  const closed: number[] = [];
  const stop = new AbortController();
  const { chat } = await scripted((_, response, number) => {
    response.on("close", () => closed.push(number));
    stream(response).write(part(1, "a"));
    if (number === 2) stop.abort(new Error("left the page"));
  });
  for await (const { event } of chat.send("hello")) if (event === "message") break;
  await expect.poll(() => closed).toEqual([1]);
  const reading = all(chat.send("hello", { signal: stop.signal }));
  await expect(reading).rejects.toThrow("left the page");
  await expect.poll(() => closed).toEqual([1, 2]);
});

test("[CHAT-17] [CHAT-20] a resumed stream begins at a time, and continues after the last event", async () => {
  const { chat, requests } = await scripted((_, response, number) => {
    stream(response);
    if (number === 1) cut(response, part(5, "a"));
    else response.end(`${part(6, "b")}id: 7\n\nid: 7\nevent: done\ndata: {"resumed":true,"count":1}\n\n`);
  });
  const events = await all(chat.resume({ since: new Date(0) }));
  expect(events.map(({ event }) => event)).toEqual(["message", "message", "done"]);
  expect(requests.map(({ query }) => [query.since, query.last_event_id])).toEqual([
    ["1970-01-01T00:00:00.000Z", undefined],
    [undefined, "5"],
  ]);
  await all(chat.resume({ after: 0, follow: false }));
  expect(requests[2]?.query).toMatchObject({ last_event_id: "0", follow: "false" });
});

test("[CHAT-3] [CHAT-4] a file and a long message are posted, and their answer is one event", async () => {
  const types: string[] = [];
  const { chat, requests } = await scripted((request, response, number) => {
    request.resume().on("end", () => {
      types.push(`${request.method} ${request.headers["content-type"]?.split(";")[0]}`);
      if (number === 3) refuse(response, 500, "TOOL_FAILED");
      else response.end('{"reply":"<p>hi</p>","receipt":{"model":"m"}}');
    });
  });
  const events = await all(chat.send("look", { file: new Blob(["x"]), fileName: "x.txt" }));
  expect(events.map(({ event }) => event)).toEqual(["message", "done"]);
  expect(textOf(await all(chat.send("ä".repeat(1_000))))).toBe("<p>hi</p>");
  const failed = await all(chat.send("look", { file: new Blob(["x"]) }));
  expect(failed.map(({ data }) => data)).toEqual([
    { error: { code: "TOOL_FAILED", message: "no" } },
    { resumed: false },
  ]);
  expect(requests.map(({ path }) => path)).toEqual(["/chat/index", "/chat/index", "/chat/index"]);
  expect(types).toEqual(["POST multipart/form-data", "POST application/json", "POST multipart/form-data"]);
});

test("[CHAT-30] stop and reset are posts with the chat's name", async () => {
  const { chat, requests } = await scripted(
    (request, response, number) => {
      request.resume();
      if (number === 1) response.destroy();
      else response.end('{"success":true,"stopped":true}');
    },
    { csrfToken: "t" },
  );
  expect(await chat.stop()).toBe(true);
  await chat.reset();
  expect(requests.map(({ path }) => path)).toEqual(["/chat/stop", "/chat/stop", "/chat/reset"]);
  expect(requests[2]?.headers["x-csrf-token"]).toBe("t");
});
