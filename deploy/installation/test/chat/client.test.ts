import { type Chat, createChat } from "@toolgate/chat-client/chat";
import type { ChatEvent } from "@toolgate/chat-client/events";
import { startTcpProxy } from "@toolgate/testbed/tcp-proxy";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectDense } from "./client.ts";
import type { ChatFrontDoor } from "./front-door.ts";
import { LAST_WORD, openStories, type Storyteller } from "./storyteller.ts";

const MESSAGE = "greet Ada and tell a story";
/** The story continues by this many words after each message event, so that an answer has at least 15 of them. */
const WORDS_PER_EVENT = 4;

describe("the client and a real gateway", () => {
  let door: ChatFrontDoor;
  let story: Storyteller;
  let network: Awaited<ReturnType<typeof startTcpProxy>>;
  beforeAll(async () => {
    [door, story] = await openStories("split");
    network = await startTcpProxy(door.toolgate.baseUrl);
  });
  afterAll(async () => {
    await network?.[Symbol.asyncDispose]();
    await story?.[Symbol.asyncDispose]();
  });

  const chatOf = (chatId: string) =>
    createChat({
      baseUrl: network.url,
      tenant: door.tenant,
      chatId,
      token: () => door.user.headers.authorization.slice("Bearer ".length),
      retryMs: 50,
      silenceMs: 1_000,
    });

  /** Reads to the end, and calls `onMessage` for every message event, with their number. */
  async function read(events: AsyncIterable<ChatEvent>, onMessage: (count: number) => void = () => {}) {
    const found: ChatEvent[] = [];
    let text = "";
    let count = 0;
    for await (const event of events) {
      found.push(event);
      if (event.event !== "message" || event.data.role !== "assistant") continue;
      text += event.data.content;
      count += 1;
      onMessage(count);
    }
    return { found, text, kinds: found.map(({ event }) => event).filter((kind) => kind !== "message") };
  }

  /** Sends a message whose answer continues with each event that has been read. */
  function ask(chat: Chat, onMessage: (count: number) => void) {
    story.pauseAt(WORDS_PER_EVENT);
    return read(chat.send(MESSAGE), (count) => {
      story.pauseAt((count + 1) * WORDS_PER_EVENT);
      onMessage(count);
    });
  }

  test("[CHAT-16] [CHAT-36] over broken and silent connections, each event arrives once and the text is that of the history", async () => {
    const chat = chatOf("cut");
    const { found, text, kinds } = await ask(chat, (count) => {
      if (count % 5 === 2) network.cut();
      if (count === 9) network.freeze();
    });
    expectDense(found.map(({ id }) => String(id)));
    expect(kinds).toEqual(["sent", "tool_start", "tool_complete", "suggestions", "done"]);
    expect(found.at(-1)?.data).toMatchObject({ resumed: false, receipt: { tools: [{ tool: "greet" }] } });
    expect(network.connections).toBeGreaterThan(4);
    const { messages } = await chat.history();
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", MESSAGE],
      ["assistant", text],
    ]);
  });

  test("[CHAT-22] [CHAT-45] another reader continues after any event, also while the answer runs", async () => {
    const chat = chatOf("resumed");
    let resumed: ReturnType<typeof read> | undefined;
    const { found } = await ask(chat, (count) => {
      if (count === 5) resumed = read(chat.resume({ after: 3 }), (other) => other % 5 === 0 && network.cut());
    });
    const other = await resumed;
    expect(other?.found.map(({ id }) => id)).toEqual(found.map(({ id }) => id).filter((id) => id > 3));
    expect(other?.found.at(-1)?.data).toMatchObject({ resumed: true });
    const since = await read(chat.resume({ since: new Date(0) }));
    expect(since.text).toBe((await chat.history()).messages[1]?.content);
  });

  test("[CHAT] [CHAT-31] stop keeps the partial answer, history has pages, and reset deletes it", async () => {
    const chat = chatOf("stopped");
    let stopped: Promise<boolean> | undefined;
    story.pauseAt(WORDS_PER_EVENT);
    const { found, text } = await read(chat.send(MESSAGE), () => {
      stopped ??= chat.stop();
    });
    expect(await stopped).toBe(true);
    expect(found.at(-1)?.data).toMatchObject({ receipt: { stopped: true } });
    expect(text).not.toContain(LAST_WORD);
    const page = await chat.history({ limit: 1 });
    expect(page.messages.map(({ content }) => content)).toEqual([text]);
    expect((await chat.history({ limit: 1, before: page.next_before ?? 0 })).messages[0]?.role).toBe("user");
    await chat.reset();
    expect(await chat.history()).toEqual({ messages: [] });
    expect(await chat.stop()).toBe(false);
  });

  test("[CHAT-3] a message that is too long for an address is answered too", async () => {
    const { kinds, text } = await read(chatOf("long").send(`greet Ada ${"ä".repeat(5_000)}`));
    expect(kinds).toEqual(["done"]);
    expect(text).toMatch(/^<p>/);
  });
});
