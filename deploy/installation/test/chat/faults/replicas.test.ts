import { type Random, seededRandom } from "@toolgate/testbed/random";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EventStream, expectDense, type SentEvent, textOf } from "../client.ts";
import type { ChatFrontDoor } from "../front-door.ts";
import { LAST_WORD, openStories, type Storyteller } from "../storyteller.ts";

const SEED = 20_261_122;
const MAX_CONNECTIONS = 200;
const PAUSE = 20;
const MESSAGE = "greet Ada and tell a story";

describe("chats with several processes of each role", () => {
  let door: ChatFrontDoor;
  let story: Storyteller;
  beforeAll(async () => {
    // The gateway's calls take turns between the api processes, so each connection is served by another one.
    [door, story] = await openStories("split", { roles: { chat: { api: 2, worker: 2 } } });
  });
  afterAll(() => story?.[Symbol.asyncDispose]());

  const kill = (role: string, index: number) => {
    const found = door.toolgate.processes().filter(({ name }) => name === role)[index];
    if (!found) throw new Error(`there is no such process: ${role} ${index}`);
    process.kill(found.pid, "SIGKILL");
  };

  /** Opens streams whose answers have come to the pause. */
  async function begun(names: readonly string[]): Promise<EventStream[]> {
    story.pauseAt(PAUSE);
    const streams = await Promise.all(names.map((name) => door.stream({ chat_id: name, message: MESSAGE })));
    for (const stream of streams) await stream.until(({ event }) => event === "message");
    return streams;
  }

  /** Reads an answer like a browser's EventSource whose connection breaks after a few events, again and again. */
  async function readInPieces(chatId: string, random: Random): Promise<SentEvent[]> {
    const parameters = { chat_id: chatId, message: MESSAGE };
    const events: SentEvent[] = [];
    let last: string | undefined;
    for (let connection = 0; connection < MAX_CONNECTIONS; connection += 1) {
      const headers = { ...door.user.headers, ...(last !== undefined && { "last-event-id": last }) };
      const stream = await door.stream(parameters, headers);
      if (stream.status === 204) return events;
      const taken = 1 + Math.floor(random() * 5);
      await stream.until(() => stream.events.length >= taken).catch(() => {});
      stream.cut();
      await stream.ended;
      events.push(...stream.events);
      last = stream.ids.at(-1) ?? last;
    }
    throw new Error("the answer does not end");
  }

  test("[CHAT-21] [CHAT-22] connections that break at random points lose and repeat nothing", async () => {
    const random = seededRandom(SEED);
    const chats = Array.from({ length: 8 }, (_, index) => `pieces-${index}`);
    const results = await Promise.all(chats.map((chatId) => readInPieces(chatId, random)));
    const sent = await door.post("/chat/index", { chat_id: "whole", message: MESSAGE });
    for (const [index, events] of results.entries()) {
      expectDense(events.map(({ id }) => id));
      expect(events.filter(({ event }) => event === "done")).toHaveLength(1);
      const history = await door.history(chats[index] ?? "");
      expect(history.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect(textOf(events)).toBe(history[1].content);
      expect(textOf(events)).toBe(sent.body.reply);
    }
  });

  test("[CHAT] an answer continues while the process that serves it is killed, and the client notices nothing", async () => {
    const streams = await begun(Array.from({ length: 6 }, (_, index) => `killed-${index}`));
    kill("api", 0);
    story.finish();
    for (const [index, stream] of streams.entries()) {
      const events = await stream.ended;
      expectDense(stream.ids);
      expect(events.at(-1)).toMatchObject({ event: "done", data: { resumed: false } });
      expect(textOf(events)).toBe((await door.history(`killed-${index}`))[1].content);
    }
  });

  test("[CHAT] an answer reaches its client while NATS is down", async () => {
    const [stream] = await begun(["no-nats"]);
    await door.toolgate.nats.stop();
    story.finish();
    const events = await stream?.ended;
    await door.toolgate.nats.restart();
    expectDense(stream?.ids ?? []);
    expect(textOf(events ?? [])).toBe((await door.history("no-nats"))[1].content);
  });

  test("[CHAT] an answer continues at another worker when its own is killed, and no tool runs again", async () => {
    const streams = await begun(Array.from({ length: 4 }, (_, index) => `taken-${index}`));
    kill("worker", 0);
    story.finish();
    for (const [index, stream] of streams.entries()) {
      const events = await stream.ended;
      expectDense(stream.ids);
      expect(events.filter(({ event }) => event === "tool_start")).toHaveLength(1);
      expect(textOf(events)).toBe((await door.history(`taken-${index}`))[1].content);
      expect(textOf(events)).toContain(LAST_WORD);
    }
  });
});
