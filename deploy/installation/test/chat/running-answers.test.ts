import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EventStream, expectDense, kindsOf, textOf } from "./client.ts";
import type { ChatFrontDoor } from "./front-door.ts";
import { LAST_WORD, openStories, STORY, type Storyteller } from "./storyteller.ts";

const PAUSE = 20;

let door: ChatFrontDoor;
let story: Storyteller;
beforeAll(async () => {
  [door, story] = await openStories("single");
});
afterAll(() => story?.[Symbol.asyncDispose]());
beforeEach(() => story.pauseAt(PAUSE));

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

test("[CHAT-45] a resume shows the rest as it arrives, and one with follow=false ends", async () => {
  const stream = await begun("resume");
  const [first] = stream.events;
  stream.cut();
  const after = { chat_id: "resume", last_event_id: first?.id ?? "" };
  const brief = await door.resume({ ...after, follow: "false" });
  expect(kindsOf(await brief.ended).at(-1)).toBe("done");
  expect(await door.history("resume")).toHaveLength(1);
  const [byId, bySince] = await Promise.all([
    door.resume(after),
    door.resume({ chat_id: "resume", since: "2020-01-01T00:00:00Z" }),
  ]);
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
