import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { chatEventsSubject } from "@toolgate/event-bus/chat-events";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { ChatEventsSchema } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import {
  type ChatEventSchema,
  ChatService,
  ReadMore,
  type StartTurnRequest,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { AuthorizeResponseSchema, Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { type TestServer, testNats } from "@toolgate/testbed/servers/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LiveReader, silenceMs } from "../src/http/chat/live-reader.ts";
import { listen, testServer } from "./test-server.ts";

type Event = MessageInitShape<typeof ChatEventSchema>;

const TURN = "turn";
const PAGE = 3;

let nats: TestServer;
let bus: Bus;
beforeAll(async () => {
  nats = await testNats();
  bus = await connectBus({ servers: nats.url, name: "test" });
});
afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await nats[Symbol.asyncDispose]();
});

let chats = 0;

/** The HTTP server, with a user and a chat of one turn, whose events the test stores and publishes. */
async function startServer(failing: (call: "start" | "read") => boolean = () => false) {
  chats += 1;
  const workspaceId = `w-${chats}`;
  const subject = chatEventsSubject({ workspaceId, chatId: "c" });
  const stored: Event[] = [];
  const starts: StartTurnRequest[] = [];
  const seen = { reads: 0 };
  const mayFail = (call: "start" | "read") => {
    if (failing(call)) throw new ConnectError("the process has ended", Code.Unavailable);
  };
  const user = create(AuthorizeResponseSchema, { userId: "u", workspaceId, workspace: "acme", role: Role.MEMBER });
  const app = await testServer({
    bus,
    transports: {
      chat: createRouterTransport((router) =>
        router.service(ChatService, {
          startTurn(request) {
            starts.push(request);
            mayFail("start");
            return { first: { position: { turn: TURN }, more: ReadMore.STORED } };
          },
          readEvents({ position }) {
            seen.reads += 1;
            mayFail("read");
            const last = stored.at(-1)?.id ?? 0n;
            const { afterEventId = 0n } = position ?? {};
            const after = afterEventId > last ? last : afterEventId;
            const rest = stored.filter(({ id = 0n }) => id > after);
            const events = rest.slice(0, PAGE);
            const isOver = events.at(-1)?.event?.case === "done";
            const more = isOver ? ReadMore.NOTHING : rest.length > PAGE ? ReadMore.STORED : ReadMore.LIVE;
            return { events, position: { turn: TURN, afterEventId: events.at(-1)?.id ?? after }, more };
          },
        }),
      ),
      "key-auth": createRouterTransport((router) => router.service(SessionService, { authorize: () => user })),
    },
  });
  const port = await listen(app);
  const url = `http://127.0.0.1:${port}/chat/stream?tenant=acme&chat_id=c&message=hello`;
  return {
    stored,
    starts,
    seen,
    publish(...events: Event[]): void {
      const message = create(ChatEventsSchema, { turn: TURN, events });
      bus.nc.publish(subject, toBinary(ChatEventsSchema, message));
    },
    /** Whether somebody is subscribed to the chat's events. */
    async isFollowed(): Promise<boolean> {
      try {
        await bus.nc.request(subject, undefined, { timeout: 1_000 });
        return true;
      } catch (error) {
        return !String(error).includes("no responders");
      }
    },
    async open(): Promise<IncomingMessage> {
      const request = get(url, { headers: { authorization: "Bearer token" }, agent: false });
      const [response] = await once(request, "response");
      return response;
    },
    close: () => app.close(),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

const message = (id: number, content: string, role = "assistant"): Event => ({
  id: BigInt(id),
  event: { case: "message", value: { role, content } },
});
const done = (id: number): Event => ({ id: BigInt(id), event: { case: "done", value: {} } });

/** What has been read of a response so far. */
function reading(response: IncomingMessage): { text: string; ids: number[] } {
  let text = "";
  response
    .on("error", () => {})
    .on("data", (chunk) => {
      text += chunk;
    });
  return {
    get text() {
      return text;
    },
    get ids() {
      return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    },
  };
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test("[CHAT] a client that does not read is cut when 256 kB wait for it, and its chat is no longer followed", async () => {
  await using server = await startServer();
  server.stored.push(message(1, "hello", "user"));
  const response = await server.open();
  const closed = new Promise((resolve) => response.once("close", resolve));
  const read = reading(response);
  await eventually(() => expect(read.ids).toEqual([1]));
  response.pause();
  expect(await server.isFollowed()).toBe(true);
  // More than the kernel's buffers take.
  for (let id = 2; id < 3_200; id += 1) {
    server.stored.push(message(id, "x".repeat(10_000)));
    server.publish(message(id, "x".repeat(10_000)));
    if (id % 10 === 0) await bus.nc.flush();
    await turnOfEventLoop();
  }
  response.resume();
  await closed;
  expect(response.complete).toBe(false);
  await eventually(async () => expect(await server.isFollowed()).toBe(false));
});

test("[CHAT-16] a replay waits for its reader instead of cutting it", async () => {
  const count = 2_000;
  await using server = await startServer();
  server.stored.push(...upTo(count).map((id) => message(id, "x".repeat(10_000))), done(count + 1));
  const response = await server.open();
  const read = reading(response);
  await once(response, "end");
  expect(read.ids).toEqual(upTo(count + 1));
});

test("[CHAT] when chat fails, calls are repeated as the same message, and the client notices nothing", async () => {
  let calls = 0;
  await using server = await startServer(() => calls++ % 3 < 2);
  server.stored.push(...upTo(10).map((id) => message(id, `${id} `)), done(11));
  const response = await server.open();
  const read = reading(response);
  await once(response, "end");
  expect(read.ids).toEqual(upTo(11));
  expect(server.starts.length).toBe(3);
  // Otherwise each call would be a message of its own.
  expect(new Set(server.starts.map(({ clientMessageId }) => clientMessageId)).size).toBe(1);
  expect(server.starts[0]?.clientMessageId).not.toBe("");
});

test("[CHAT] a client whose chat cannot be read gets 500 in the end", async () => {
  await using server = await startServer((call) => call === "read");
  const response = await server.open();
  expect(response.statusCode).toBe(500);
  response.resume();
  expect(server.seen.reads).toBeLessThan(20);
});

test("[CHAT-21] published events that come twice are sent once, and those that are lost are read from chat", async () => {
  await using server = await startServer();
  server.stored.push(message(1, "hello", "user"));
  const response = await server.open();
  const read = reading(response);
  await eventually(() => expect(read.ids).toEqual([1]));
  server.stored.push(message(2, "b"));
  server.publish(message(1, "hello", "user"), message(2, "b"));
  server.publish(message(2, "b"));
  await eventually(() => expect(read.ids).toEqual([1, 2]));
  const readsBefore = server.seen.reads;
  server.stored.push(...[3, 4].map((id) => message(id, "b")));
  server.publish(message(4, "b"));
  await eventually(() => expect(read.ids).toEqual([1, 2, 3, 4]));
  expect(server.seen.reads).toBeGreaterThan(readsBefore);
  server.publish(message(5, "b"), done(6));
  await once(response, "end");
  expect(read.ids).toEqual(upTo(6));
});

test("[CHAT] text keeps coming while NATS is down", async () => {
  await using server = await startServer();
  server.stored.push(message(1, "hello", "user"));
  const response = await server.open();
  const read = reading(response);
  await eventually(() => expect(read.ids).toEqual([1]));
  await nats.stop();
  for (const id of [2, 3]) {
    server.stored.push(message(id, "b"));
    await eventually(() => expect(read.ids).toEqual(upTo(id)));
  }
  server.stored.push(done(4));
  await once(response, "end");
  await nats.restart();
  await eventually(() => bus.isConnected());
});

test("[CHAT] a gateway that stops ends its streams without done, so that clients continue elsewhere", async () => {
  const server = await startServer();
  server.stored.push(message(1, "a"));
  const response = await server.open();
  response.on("error", () => {});
  await once(response, "data");
  const left = new Promise((resolve) => response.once("close", resolve));
  await server.close();
  await left;
  expect(response.complete).toBe(false);
});

test("[CHAT] a stream goes on after the last id of a database that was restored from an older backup", async () => {
  await using server = await startServer();
  server.stored.push(...upTo(3).map((id) => message(id, "a")));
  const response = await server.open();
  const read = reading(response);
  await eventually(() => expect(read.ids).toEqual(upTo(3)));
  const readsBefore = server.seen.reads;
  server.stored.length = 1;
  await eventually(() => expect(server.seen.reads).toBeGreaterThan(readsBefore));
  server.stored.push(done(2));
  await once(response, "end");
  expect(read.ids).toEqual([1, 2, 3, 2]);
});

test("[CHAT] a stream that hears nothing reads after 2, 4, 8 and then every 10 s, and begins again once it hears something", async () => {
  const silences: number[] = [];
  const reader = new LiveReader(new AbortController().signal, (reads) => {
    silences.push(silenceMs(reads));
    return 0;
  });
  reader.continueAfter(7n);
  for (let read = 0; read < 5; read += 1) {
    expect(await reader.next(TURN)).toBeUndefined();
    reader.continueAfter(7n);
  }
  // Of another turn.
  reader.receive(create(ChatEventsSchema, { turn: "other", events: [message(8, "a")] }), 1);
  expect(await reader.next(TURN)).toBeUndefined();
  reader.receive(create(ChatEventsSchema, { turn: TURN, events: [message(8, "a")] }), 1);
  expect(await reader.next(TURN)).toHaveLength(1);
  expect(await reader.next(TURN)).toBeUndefined();
  expect(silences).toEqual([2, 4, 8, 10, 10, 10, 10, 2].map((seconds) => seconds * 1_000));
});
