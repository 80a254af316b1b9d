import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport, type HandlerContext } from "@connectrpc/connect";
import {
  ChatService,
  type StreamAnswerRequest,
  type StreamAnswerResponseSchema,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { AuthorizeResponseSchema, Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

type Item = MessageInitShape<typeof StreamAnswerResponseSchema>;
type Answer = (request: StreamAnswerRequest, call: HandlerContext) => AsyncIterable<Item>;

/** The HTTP server, with a user and a chat service that answers like this. */
async function startServer(answer: Answer) {
  const user = create(AuthorizeResponseSchema, { userId: "u", workspaceId: "w", workspace: "acme", role: Role.MEMBER });
  const app = await testServer({
    transports: {
      chat: createRouterTransport((router) => router.service(ChatService, { streamAnswer: answer })),
      "key-auth": createRouterTransport((router) => router.service(SessionService, { authorize: () => user })),
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/chat/stream?tenant=acme&chat_id=c&message=hello`;
  return {
    async open(): Promise<IncomingMessage> {
      const request = get(url, { headers: { authorization: "Bearer token" }, agent: false });
      const [response] = await once(request, "response");
      return response;
    },
    close: () => app.close(),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

const message = (id: number, content: string, role = "assistant"): Item => ({
  event: { id: BigInt(id), event: { case: "message", value: { role, content } } },
});
const done = (id: number): Item => ({ event: { id: BigInt(id), event: { case: "done", value: {} } } });

async function whole(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += chunk;
  return text;
}

function idsIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
}

test("[CHAT] a client that does not read is cut when 256 kB wait for it, and the call of chat ends", async () => {
  let sent = 0;
  let ended = false;
  await using server = await startServer(async function* (_, { signal }) {
    signal.addEventListener("abort", () => {
      ended = true;
    });
    for (let id = 1; !signal.aborted; id += 1) {
      sent += 10_000;
      yield message(id, "x".repeat(10_000));
      await turnOfEventLoop();
    }
  });
  const response = await server.open();
  response.pause();
  await eventually(() => ended);
  // The kernel's buffers add to this.
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  response.resume();
  await expect(whole(response)).rejects.toThrow();
});

test("[CHAT-16] a replay waits for its reader instead of cutting it", async () => {
  const count = 2_000;
  await using server = await startServer(async function* () {
    for (let id = 1; id <= count; id += 1) yield { ...message(id, "x".repeat(10_000)), replayed: true };
    yield done(count + 1);
  });
  const response = await server.open();
  const ids = idsIn(await whole(response));
  expect(ids).toEqual(Array.from({ length: count + 1 }, (_, index) => index + 1));
});

test("[CHAT] when the connection to chat breaks, the answer continues at another process, and the client notices nothing", async () => {
  const requests: StreamAnswerRequest[] = [];
  await using server = await startServer(async function* (request) {
    requests.push(request);
    const from = Number(request.afterEventId) + 1;
    for (let id = from; id < from + 3 && id <= 10; id += 1) yield message(id, `${id} `);
    if (from + 3 <= 10) throw new ConnectError("the process has ended", Code.Unavailable);
    yield done(11);
  });
  const text = await whole(await server.open());
  expect(idsIn(text)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(requests.length).toBe(4);
  // Otherwise each call would be a message of its own.
  expect(new Set(requests.map(({ clientMessageId }) => clientMessageId)).size).toBe(1);
  expect(requests[0]?.clientMessageId).not.toBe("");
});

test("[CHAT] a client that leaves ends the call of chat", async () => {
  let ended = false;
  await using server = await startServer(async function* (_, { signal }) {
    yield message(1, "a");
    await once(signal, "abort");
    ended = true;
  });
  const response = await server.open();
  response.destroy();
  await eventually(() => ended);
});

test("[CHAT] a gateway that stops ends its streams without done, so that clients continue elsewhere", async () => {
  const server = await startServer(async function* (_, { signal }) {
    yield message(1, "a");
    await once(signal, "abort");
  });
  const response = await server.open();
  response.on("error", () => {});
  await once(response, "data");
  const left = new Promise((resolve) => response.once("close", resolve));
  await server.close();
  await left;
  expect(response.complete).toBe(false);
});

test("[CHAT-16] a silent stream gets a comment every 15 s", async () => {
  await using server = await startServer(async function* (_, { signal }) {
    yield message(1, "a");
    await once(signal, "abort");
  });
  const response = await server.open();
  let text = "";
  response.on("data", (chunk) => {
    text += chunk;
  });
  await eventually(() => text.includes(": heartbeat\n"), { deadlineMs: 40_000 });
  expect(text).toMatch(/^: open\nretry: \d+\nid: 1\nevent: message\n/);
  response.destroy();
});
