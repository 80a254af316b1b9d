import { afterAll, beforeAll, expect, test } from "vitest";
import { kindsOf, textOf } from "./client.ts";
import { type ChatFrontDoor, openChat } from "./front-door.ts";

let door: ChatFrontDoor;
beforeAll(async () => {
  door = await openChat("split");
});
afterAll(() => door[Symbol.asyncDispose]());

const ended = async (parameters: Record<string, string>, headers?: Record<string, string>) => {
  const stream = await door.resume(parameters, headers);
  expect(stream.status).toBe(200);
  return { events: await stream.ended, ids: stream.ids };
};
const turnsOf = async (chatId: string) => {
  const { rows } = await door.toolgate.pool.query(
    "select count(*)::int as turns from chat.turn t join chat.chat c on c.id = t.chat where c.chat_id = $1",
    [chatId],
  );
  return rows[0].turns;
};

test("[CHAT-20] [CHAT-21] [CHAT-44] after an event id come exactly the events that followed it, as they were sent", async () => {
  const live = await (await door.stream({ chat_id: "by-id", message: "greet Ada" })).ended;
  for (const [index, { id }] of live.entries()) {
    const { events } = await ended({ chat_id: "by-id", last_event_id: id });
    expect(events.slice(0, -1)).toEqual(live.slice(index + 1, -1));
    const done = events.at(-1);
    expect(done).toMatchObject({ id: live.at(-1)?.id, event: "done", data: { resumed: true } });
    const messages = events.filter(({ event }) => event === "message");
    expect(done?.data.count).toBe(messages.length);
  }
});

test("[CHAT-19] [CHAT-21] the header wins over the query and over since, and is ignored when it is not a number", async () => {
  const live = await (await door.stream({ chat_id: "header", message: "greet Ada" })).ended;
  const [first, second] = [live[0]?.id ?? "", live[1]?.id ?? ""];
  const withHeader = (id: string) => ({ ...door.user.headers, "last-event-id": id });
  const after = async (headers: Record<string, string>, more: Record<string, string>) =>
    (await ended({ chat_id: "header", ...more }, headers)).events[0]?.id;
  const future = "2999-01-01T00:00:00Z";
  expect(await after(withHeader(second), { last_event_id: first, since: future })).toBe(live[2]?.id);
  expect(await after(withHeader("abc"), { last_event_id: first })).toBe(second);
  expect(await after(withHeader(""), { last_event_id: first })).toBe(second);
  const wrong = await door.get("/chat/resume", { chat_id: "header", last_event_id: "1.5" });
  expect({ status: wrong.status, code: (wrong.body.error as { code: string }).code }).toEqual({
    status: 400,
    code: "INVALID_PARAMETERS",
  });
});

test("[CHAT-17] [CHAT-22] [CHAT-43] since replays whole messages, also the user's, with the calls of tools", async () => {
  const live = await (await door.stream({ chat_id: "since", message: "greet Ada" })).ended;
  const history = await door.history("since");
  const { events, ids } = await ended({ chat_id: "since", since: "2020-01-01T00:00:00Z" });
  expect(kindsOf(events)).toEqual(["message", "tool_start", "tool_complete", "message", "done"]);
  expect(events.filter(({ event }) => event === "message").map(({ data }) => data)).toEqual(history);
  expect(events.at(-1)).toMatchObject({ id: live.at(-1)?.id, data: { resumed: true, count: 2 } });
  expect(ids).toEqual([...ids].sort((a, b) => Number(a) - Number(b)));
  // A client that disconnects after a whole message continues after it.
  const message = events[3];
  const rest = await ended({ chat_id: "since", last_event_id: message?.id ?? "" });
  expect(textOf(rest.events)).toBe("");
});

test("[CHAT-18] [CHAT-46] since is exclusive, knows offsets, and replays nothing from the future", async () => {
  await (await door.stream({ chat_id: "since-2", message: "hello" })).ended;
  const [user, assistant] = await door.history("since-2");
  const count = async (since: string) =>
    (await ended({ chat_id: "since-2", since })).events.at(-1)?.data as { resumed: boolean; count: number };
  expect(await count(user.created)).toEqual(expect.objectContaining({ resumed: true, count: 1 }));
  expect((await count(assistant.created)).count).toBe(0);
  expect((await count("2999-01-01T00:00:00Z")).count).toBe(0);
  const shifted = new Date(Date.parse(user.created) + 7_200_000).toISOString().replace("Z", "+02:00");
  expect((await count(shifted)).count).toBe(1);
});

test("[CHAT-23] [CHAT-24] resume starts no turn and asks no model, and an unknown chat has nothing to replay", async () => {
  await (await door.stream({ chat_id: "reads", message: "hello" })).ended;
  const usage = () => door.toolgate.pool.query("select sum(turns)::int as turns from chat.usage");
  const before = (await usage()).rows;
  await ended({ chat_id: "reads", since: "2020-01-01T00:00:00Z" });
  await ended({ chat_id: "reads", last_event_id: "0" });
  expect(await turnsOf("reads")).toBe(1);
  expect((await usage()).rows).toEqual(before);
  const unknown = await ended({ chat_id: "unknown", last_event_id: "0" });
  expect(unknown.events).toEqual([{ id: "0", event: "done", data: { resumed: true, count: 0 } }]);
});

test("[CHAT-45] a resume over several turns has one done event, the last", async () => {
  for (const name of ["Ada", "Bob"]) await (await door.stream({ chat_id: "several", message: `greet ${name}` })).ended;
  const { events, ids } = await ended({ chat_id: "several", last_event_id: "0" });
  // All but that of the first turn's end.
  expect(new Set(ids).size).toBe(Number(ids.at(-1)) - 1);
  expect(kindsOf(events).filter((name) => name === "done")).toHaveLength(1);
  const roles = events.filter(({ event }) => event === "message").map(({ data }) => data.role);
  expect(roles.filter((role) => role === "user")).toHaveLength(2);
  expect(textOf(events)).toMatch(/Hello, Ada.*Hello, Bob/s);
});
