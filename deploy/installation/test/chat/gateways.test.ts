import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectDense, openStream, textOf } from "./client.ts";
import type { ChatFrontDoor } from "./front-door.ts";
import { LAST_WORD, openStories, type Storyteller } from "./storyteller.ts";

const PAUSE = 20;

describe("chats through two gateways", () => {
  let door: ChatFrontDoor;
  let story: Storyteller;
  let other: string;
  beforeAll(async () => {
    [door, story] = await openStories("split", { replicas: { gateway: 2 } });
    const [, second] = door.toolgate.gatewayUrls;
    if (!second) throw new Error("there is no second gateway");
    other = second;
  });
  afterAll(() => story?.[Symbol.asyncDispose]());

  const postToOther = async (path: string, chatId: string, headers: Record<string, string> = door.user.headers) => {
    const response = await fetch(other + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ tenant: door.tenant, chat_id: chatId }),
    });
    return { status: response.status, body: await response.json() };
  };
  const begun = async (chatId: string) => {
    story.pauseAt(PAUSE);
    const stream = await door.stream({ chat_id: chatId, message: "tell a story" });
    await stream.until(({ event }) => event === "message");
    return stream;
  };

  test("[CHAT-17] [CHAT-21] a stream that began at one gateway is resumed at the other without a gap", async () => {
    const stream = await begun("moved");
    const [first] = stream.events;
    stream.cut();
    const after = { chat_id: "moved", last_event_id: first?.id ?? "" };
    const resumed = await openStream(other + door.url("/chat/resume", after), door.user.headers);
    await resumed.until(({ event }) => event === "message");
    story.finish();
    const events = await resumed.ended;
    expectDense([first?.id ?? "", ...resumed.ids]);
    expect(textOf([...stream.events.slice(0, 1), ...events])).toBe((await door.history("moved"))[1].content);
    expect(textOf(events)).toContain(LAST_WORD);
  });

  test("[CHAT] stop at one gateway ends the answer that streams at the other", async () => {
    const stream = await begun("stopped");
    expect(await postToOther("/chat/stop", "stopped")).toEqual({ status: 200, body: { success: true, stopped: true } });
    const history = await door.history("stopped");
    const events = await stream.ended;
    expect(events.at(-1)?.data).toMatchObject({ resumed: false, receipt: { stopped: true } });
    expect(history.map(({ content }) => content)).toEqual(["tell a story", textOf(events)]);
    await eventually(() => story.open() === 0);
    expect((await postToOther("/chat/stop", "stopped")).body).toEqual({ success: true, stopped: false });
  });

  test("[CHAT-30] [CHAT-31] reset at one gateway ends the answer that streams at the other, and clears the history", async () => {
    const stream = await begun("reset");
    expect(await postToOther("/chat/reset", "reset")).toEqual({ status: 200, body: { success: true } });
    expect((await stream.ended).at(-1)?.event).toBe("done");
    expect(await door.history("reset")).toEqual([]);
    await eventually(() => story.open() === 0);
  });

  test("[CHAT-33] the session cookie of one gateway is valid at the other, and so is its CSRF token", async () => {
    story.finish();
    const { email, password } = door.toolgate.account;
    const signedIn = await door.toolgate.request("/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const csrf = String(signedIn.body.csrf_token);
    expect((await door.post("/chat/index", { chat_id: "cookie", message: "greet Ada" })).status).toBe(200);
    const history = await fetch(other + door.url("/chat/history", { chat_id: "cookie" }), { headers: { cookie } });
    expect(history.status).toBe(200);
    expect(((await history.json()) as { messages: unknown[] }).messages).toHaveLength(2);
    expect((await postToOther("/chat/reset", "cookie", { cookie })).status).toBe(403);
    expect((await postToOther("/chat/reset", "cookie", { cookie, "x-csrf-token": csrf })).status).toBe(200);
  });
});
