import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { messageEvent, storedEvent } from "../../src/domain/chat-event.ts";
import { turnQueues } from "../../src/store/queue.ts";
import { type ClaimedTurn, claimTurns } from "../../src/store/turns/claim.ts";
import { endTurn, type TurnEnd } from "../../src/store/turns/end.ts";
import { renewLeases } from "../../src/store/turns/leases.ts";
import { type TurnWrite, writeTurns } from "../../src/store/turns/write.ts";
import { type ChatRig, startChatRig, streamedText } from "../chat-rig.ts";

const QUEUE = turnQueues(100).chat;
const STEP = { number: 1, html: "a", calls: [], model: "m", inputTokens: 7, outputTokens: 3 };
const CALL = { id: "call_1_1_1", tool: "t", args: "{}", step: 1, result: "", durationMs: 0, suppressed: [] };

describe("what workers write", () => {
  let rig: ChatRig;
  let pool: Pool;
  beforeAll(async () => {
    rig = await startChatRig({ instances: [["api"]] });
    const { databaseUrl: url } = rig.config;
    pool = createPipelinePool({ url, maxConnections: 4, applicationName: "test" });
  });
  afterAll(async () => {
    await pool.end();
    await rig[Symbol.asyncDispose]();
  });
  let chats = 0;
  let turn: ClaimedTurn;
  const claim = async () => (await claimTurns(pool, QUEUE, new Date(), 10)).turns;
  beforeEach(async () => {
    chats += 1;
    await rig.send(`chat-${chats}`, "Hi");
    [turn] = (await claim()) as [ClaimedTurn];
  });

  const write = (texts: string[], more: Partial<TurnWrite> = {}): TurnWrite => ({
    turn: turn.id,
    token: turn.token,
    chat: turn.chat,
    before: 1,
    events: texts.map((text) => storedEvent(messageEvent("assistant", text, new Date()))),
    calls: [],
    written: false,
    ...more,
  });
  const streamed = async () => streamedText(await rig.events(turn.chat));
  const apply = async (...writes: TurnWrite[]) => {
    await writeTurns(pool, writes, new Date());
    return writes.map(({ written }) => written);
  };

  it("[CHAT] a repeated write is made once, its tokens and calls too", async () => {
    const more = { step: STEP, calls: [{ ...CALL, status: "started" as const }] };
    expect(await apply(write(["a", "b"], more))).toEqual([true]);
    expect(await apply(write(["a", "b"], more))).toEqual([true]);
    expect(await streamed()).toBe("ab");
    const { rows } = await rig.pool.query("select input_tokens, output_tokens from chat.turn where id = $1", [turn.id]);
    expect(rows).toEqual([{ input_tokens: 7, output_tokens: 3 }]);
    const usage = await rig.pool.query("select sum(input_tokens)::int as n from chat.usage where model = 'm'");
    expect(usage.rows).toEqual([{ n: 7 }]);
  });

  it("[CHAT] a write with another token, or of a turn that has ended, changes nothing", async () => {
    expect(await apply(write(["a"], { token: crypto.randomUUID(), step: STEP }))).toEqual([false]);
    expect(await apply(write(["a"], { before: 7 }))).toEqual([false]);
    await rig.turns.reset(rig.request(turn.chatId, ""));
    expect(await apply(write(["a"], { before: 2 }))).toEqual([false]);
    expect(await streamed()).toBe("");
    expect(await renewLeases(pool, [turn], new Date())).toEqual([]);
  });

  it("[CHAT] a result is stored once: what comes later does not replace it", async () => {
    await apply(write([], { step: STEP, calls: [{ ...CALL, status: "started" }] }));
    await apply(write([], { calls: [{ ...CALL, status: "succeeded", result: "first" }] }));
    await apply(write([], { calls: [{ ...CALL, status: "unknown", result: "second" }] }));
    const { rows } = await rig.pool.query("select status, result from chat.tool_call where turn = $1", [turn.id]);
    expect(rows).toEqual([{ status: "succeeded", result: "first" }]);
  });

  it("[CHAT] data that cannot be stored fails alone", async () => {
    const good = turn;
    await rig.send(`other-${chats}`, "Hi");
    const [other] = (await claim()) as [ClaimedTurn];
    const bad = write(["x"], {
      turn: other.id,
      token: other.token,
      chat: other.chat,
      calls: [{ ...CALL, args: "\0", status: "started" }],
    });
    turn = good;
    expect(await apply(bad, write(["a"]))).toEqual([false, true]);
    expect(bad.error).toMatchObject({ code: "22021" });
    expect(await streamed()).toBe("a");
    expect(await rig.events(other.chat)).toHaveLength(1);
  });

  it("[CHAT] a repeated end is made once, and the next turn starts once", async () => {
    await rig.send(turn.chatId, "And then?");
    const end: TurnEnd = {
      turn,
      status: "completed",
      before: 1,
      events: [storedEvent(messageEvent("assistant", "a", new Date()))],
      answer: { eventId: 2, html: "a" },
      model: "end",
      inputTokens: 4,
      outputTokens: 2,
    };
    const apply = (what: TurnEnd) => endTurn(pool, QUEUE, what, new Date());
    expect(await apply({ ...end, turn: { ...turn, token: crypto.randomUUID() } })).toBeUndefined();
    expect(await apply(end)).toMatchObject({ next: { eventId: 3 } });
    expect(await apply(end)).toEqual({ next: undefined });
    const { rows } = await rig.pool.query("select turns, input_tokens from chat.usage where model = 'end'");
    expect(rows).toEqual([{ turns: 1, input_tokens: 4 }]);
    expect((await claim()).map(({ chat }) => chat)).toEqual([turn.chat]);
    expect(await claim()).toEqual([]);
    const queue = await rig.pool.query("select in_flight from chat.chat_queue_group");
    const items = await rig.pool.query("select count(*) from chat.chat_queue_item where lease_until is not null");
    expect(queue.rows[0]?.in_flight).toBe(items.rows[0]?.count);
  });
});
