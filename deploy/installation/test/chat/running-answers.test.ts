import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EventStream, expectDense, kindsOf, openStream, textOf } from "./client.ts";
import type { ChatFrontDoor } from "./front-door.ts";
import { LAST_WORD, openStories, STORY, type Storyteller } from "./storyteller.ts";

const PAUSE = 20;

let door: ChatFrontDoor;
let story: Storyteller;
/** A second gateway. Each stream begins at the first. */
let other: string;
beforeAll(async () => {
  [door, story] = await openStories("split");
  const [, second] = door.toolgate.gatewayUrls;
  if (!second) throw new Error("there is no second gateway");
  other = second;
});
afterAll(() => story?.[Symbol.asyncDispose]());
beforeEach(() => story.pauseAt(PAUSE));

const postToOther = async (path: string, chatId: string, headers: Record<string, string> = door.user.headers) => {
  const response = await fetch(other + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ tenant: door.tenant, chat_id: chatId }),
  });
  return { status: response.status, body: await response.json() };
};
const turnsOf = async (chatId: string) => {
  const { rows } = await door.toolgate.pool.query(
    "select count(*)::int as turns from chat.turn t join chat.chat c on c.id = t.chat where c.chat_id = $1",
    [chatId],
  );
  return rows[0].turns;
};
/** Opens a stream whose answer has come to the pause. */
const begun = async (chatId: string, more: Record<string, string> = {}): Promise<EventStream> => {
  const stream = await door.stream({ chat_id: chatId, message: "tell a story", ...more });
  await stream.until(() => textOf(stream.events).includes(`word-${PAUSE - 2}`));
  return stream;
};

test("[CHAT-17] [CHAT-21] [CHAT-45] a resume at another gateway follows the answer; with follow=false it ends", async () => {
  const stream = await begun("resume");
  const [first] = stream.events;
  stream.cut();
  const resume = (parameters: Record<string, string>) =>
    openStream(other + door.url("/chat/resume", { chat_id: "resume", ...parameters }), door.user.headers);
  const after = { last_event_id: first?.id ?? "" };
  const brief = await resume({ ...after, follow: "false" });
  expect(kindsOf(await brief.ended).at(-1)).toBe("done");
  expect(await door.history("resume")).toHaveLength(1);
  const [byId, bySince] = await Promise.all([resume(after), resume({ since: "2020-01-01T00:00:00Z" })]);
  for (const resumed of [byId, bySince]) {
    await resumed.until(() => textOf(resumed.events).includes(`word-${PAUSE - 2}`));
    expect(kindsOf(resumed.events)).not.toContain("done");
  }
  story.finish();
  const rest = await byId.ended;
  const answer = (await door.history("resume"))[1].content;
  const before = stream.events.filter(({ id }) => Number(id) <= Number(first?.id));
  expect(textOf([...before, ...rest])).toBe(answer);
  expectDense([first?.id ?? "", ...byId.ids]);
  const whole = await bySince.ended;
  expect(textOf(whole)).toBe(answer);
  expect(whole.at(-1)?.data).toMatchObject({ resumed: true });
  expect(await turnsOf("resume")).toBe(1);
});

test("[CHAT-19] a resume after an id that the chat does not have yet shows what follows, and ends with the answer", async () => {
  const stream = await begun("above");
  const resumed = await door.resume({ chat_id: "above", last_event_id: "1000000" });
  story.finish();
  const rest = await resumed.ended;
  const { ids } = stream;
  await stream.ended;
  expect(textOf(rest)).toContain(LAST_WORD);
  expect(rest.at(-1)).toMatchObject({ id: ids.at(-1), event: "done", data: { resumed: true } });
  expect(ids).toEqual(expect.arrayContaining(resumed.ids));
});

test("[CHAT] an EventSource that connects again gets the rest without another turn, then 204", async () => {
  const parameters = { chat_id: "event-source", message: "tell a story" };
  const stream = await begun("event-source");
  const [first] = stream.ids;
  stream.cut();
  const again = await door.stream(parameters, { ...door.user.headers, "last-event-id": first ?? "" });
  story.finish();
  const events = await again.ended;
  expect(textOf(events)).toBe((await door.history("event-source"))[1].content);
  expect(events.at(-1)).toMatchObject({ event: "done", data: { resumed: true } });
  const last = { ...door.user.headers, "last-event-id": events.at(-1)?.id ?? "" };
  expect((await door.stream(parameters, last)).status).toBe(204);
  const inQuery = await door.stream({ ...parameters, last_event_id: events.at(-1)?.id ?? "" });
  expect(inQuery.status).toBe(204);
  expect(await turnsOf("event-source")).toBe(1);
});

test("[CHAT] a client that disconnects does not end the turn, and may join it again by its message id", async () => {
  const message = { client_message_id: "m-1" };
  const stream = await begun("joined", message);
  stream.cut();
  const [first] = stream.events;
  const parameters = { chat_id: "joined", message: "tell a story", ...message };
  const again = await door.stream({ ...parameters, after_event_id: first?.id ?? "" });
  story.finish();
  const events = await again.ended;
  expect(textOf([...stream.events.slice(0, 1), ...events])).toBe((await door.history("joined"))[1].content);
  expect(textOf(events)).toContain(LAST_WORD);
  expect(events.at(-1)?.data).toMatchObject({ resumed: false });
  expect(await turnsOf("joined")).toBe(1);
});

test("[CHAT] messages that wait over 30 s get 400 CHAT_BUSY, and the running answer is complete", async () => {
  const { pool } = door.toolgate;
  const stream = await begun("busy");
  const path = door.url("/chat/stream", { chat_id: "busy", message: "second" });
  const waiting = [
    door.post("/chat/index", { chat_id: "busy", message: "first" }),
    door.toolgate.request(path, { headers: door.user.headers }),
  ];
  await eventually(async () => (await turnsOf("busy")) === 3);
  // Makes them look as if they had waited that long.
  await pool.query("update chat.turn set created_at = created_at - interval '31 seconds' where status = 'waiting'");
  for (const response of waiting) {
    const { status, body } = await response;
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: { code: "CHAT_BUSY", message: expect.any(String) } },
    });
  }
  story.finish();
  expect(textOf(await stream.ended)).toBe(STORY);
  const contents = (await door.history("busy")).map(({ content }) => content);
  expect(contents).toEqual(["tell a story", STORY]);
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
