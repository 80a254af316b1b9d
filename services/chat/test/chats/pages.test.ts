import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HistoryMessage } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { doneEvent, messageEvent, storedEvent } from "../../src/domain/chat-event.ts";
import { readEvents } from "../../src/store/events.ts";
import { readHistory, readMessagesAfter } from "../../src/store/history.ts";
import { type ChatRig, expectDense, startChatRig, streamedText } from "../chat-rig.ts";
import { type Clients, clientsOf } from "../management/clients.ts";
import { readAll } from "../turns/read-all.ts";

const TURNS = 20;
/** An answer has ten such parts, so four answers do not fit into a page of the history. */
const PART = "é".repeat(15_000);
const ANSWER = PART.repeat(10);
const ANSWER_BYTES = Buffer.byteLength(ANSWER);
const CHAT_ID = "large";
const EVENTS_PER_TURN = 12;
const ALL = Number.MAX_SAFE_INTEGER;

let rig: ChatRig;
let chats: Clients["chats"];
let chat: number;
beforeAll(async () => {
  rig = await startChatRig({ instances: [["api"]] });
  ({ chats } = clientsOf(rig));
  const { rows } = await rig.pool.query(
    `insert into chat.chat (workspace_id, chat_id, owner, created_at, used_at, last_event_id)
     values ($1, $2, 'manager', now(), now(), $3) returning id`,
    [rig.tools.workspaceId, CHAT_ID, TURNS * EVENTS_PER_TURN],
  );
  chat = rows[0].id;
  for (let turn = 0; turn < TURNS; turn += 1) await addTurn(turn);
});
afterAll(() => rig[Symbol.asyncDispose]());

async function addTurn(number: number): Promise<void> {
  const first = number * EVENTS_PER_TURN + 1;
  const [id, now] = [randomUUID(), new Date()];
  const parts = Array.from({ length: 10 }, () => messageEvent("assistant", PART, now));
  const bodies = [messageEvent("user", `Question ${number}`, now), ...parts, doneEvent()];
  await rig.pool.query(
    `insert into chat.event (created_at, chat, id, turn, event)
     select now(), $1, $2 + e.place - 1, $3, e.event from unnest($4::bytea[]) with ordinality e (event, place)`,
    [chat, first, id, bodies.map(storedEvent)],
  );
  await rig.pool.query(
    `insert into chat.message (chat, event_id, turn, role, content, created_at)
     values ($1, $2, $3, 'user', $4, now()), ($1, $2 + 1, $3, 'assistant', $5, now())`,
    [chat, first, id, `Question ${number}`, ANSWER],
  );
}

function expectWhole(messages: readonly Pick<HistoryMessage, "role" | "content">[]): void {
  const short = ({ role, content }: (typeof messages)[number]) => `${role}: ${content === ANSWER ? "answer" : content}`;
  const expected = Array.from({ length: TURNS }, (_, turn) => [`user: Question ${turn}`, "assistant: answer"]);
  expect(messages.map(short)).toEqual(expected.flat());
}

test("[CHAT-26] the pages of a history with large answers are the whole history, in both directions", async () => {
  const forward: HistoryMessage[] = [];
  for (let after = 0n, more = true; more; ) {
    const page = await chats.getHistory({ chatId: CHAT_ID, after });
    forward.push(...page.messages);
    [after, more] = [page.nextAfter, page.nextAfter > 0n];
  }
  expectWhole(forward);
  const backward: HistoryMessage[] = [];
  for (let before = 0n, more = true; more; ) {
    const page = await chats.getHistory({ chatId: CHAT_ID, before, limit: 7 });
    expect(page.messages.length).toBeLessThanOrEqual(7);
    backward.unshift(...page.messages);
    [before, more] = [page.nextBefore, page.nextBefore > 0n];
  }
  expectWhole(backward);
});

test("[CHAT-21] [CHAT-22] large answers resume completely: by id each event, by time whole messages", async () => {
  const byId = await readAll(chats, CHAT_ID, { afterEventId: 0n });
  expectDense(byId);
  expect(byId).toHaveLength(TURNS * EVENTS_PER_TURN);
  expect(streamedText(byId)).toBe(ANSWER.repeat(TURNS));
  const byTime = await readAll(chats, CHAT_ID, { since: timestampFromDate(new Date(0)) });
  expectWhole(byTime.flatMap(({ event }) => (event.case === "message" ? [event.value] : [])));
});

test("[NFR] nothing is read of a message or an event that does not fit into its page", async () => {
  const part = { limit: 50, maxBytes: 1024 * 1024 };
  const pages = [
    await readHistory(rig.pool, chat, { before: ALL, ...part }),
    await readMessagesAfter(rig.pool, chat, { after: 0, ...part }),
  ];
  for (const rows of pages) {
    expect(rows.filter(({ role }) => role === "assistant")).toHaveLength(3);
    const last = (TURNS - 4) * EVENTS_PER_TURN + 2;
    expect(rows.at(-1)?.nextId).toBe(rows === pages[0] ? last : 3 * EVENTS_PER_TURN + 2);
  }
  const [answer, ...none] = await readHistory(rig.pool, chat, { before: ALL, limit: 50, maxBytes: ANSWER_BYTES - 1 });
  expect(answer?.content).toBe(ANSWER);
  expect(none).toEqual([]);
  // Two parts of an answer fit, and a page of events is smaller than one of the history.
  const { events, more } = await readEvents(rig.pool, chat, 1);
  expect(events).toHaveLength(2);
  expect(more).toBe(true);
  expect(await readEvents(rig.pool, chat, TURNS * EVENTS_PER_TURN - 1)).toMatchObject({ events: [{}], more: false });
});
