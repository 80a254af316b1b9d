import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { expect, test } from "vitest";
import { doneEvent, messageEvent, storedEvent } from "../../src/domain/chat-event.ts";
import { readEvents, readLastTexts, readToolEvents } from "../../src/store/events.ts";
import { findExpiredFiles } from "../../src/store/files.ts";
import { readHistory, readMessagesAfter } from "../../src/store/history.ts";
import { turnQueues } from "../../src/store/queue.ts";
import { deleteOldTurns } from "../../src/store/retention.ts";
import { claimTurns } from "../../src/store/turns/claim.ts";
import { endTurn } from "../../src/store/turns/end.ts";
import { findEndOfTurns, findReply, findTurn } from "../../src/store/turns/find.ts";
import { expireLeases, releaseTurn, renewLeases } from "../../src/store/turns/leases.ts";
import { loadTurn } from "../../src/store/turns/load.ts";
import { refuseWaiting } from "../../src/store/turns/refuse.ts";
import { type TurnWrite, writeTurns } from "../../src/store/turns/write.ts";
import { createTurns } from "../../src/turns/turns.ts";
import { startChatRig, started } from "../chat-rig.ts";

const ROWS = 50_000;
const CHATS = 5_000;
/** Of all statements of a chat together. */
const MAX_ROWS_READ = 2_000;

/** Other people's chats of the last minutes. Each has a turn that no worker has claimed. */
const FILL = [
  `insert into chat.chat (id, workspace_id, chat_id, owner, created_at, used_at, last_event_id, last_turn)
   overriding system value select 1000000 + n, 'other', 'chat ' || n, 'someone', now(), now(), 30, 10
   from generate_series(1, ${CHATS}) n`,
  `insert into chat.turn (id, chat, number, workspace_id, workspace, lane, status, assistant, message, test_mode, user_id,
     request_id, created_at, lease_token, client_message_id)
   select gen_random_uuid(), 1000000 + n % ${CHATS} + 1, n / ${CHATS} + 1, 'other', 'o', 'chat',
     case when n < ${CHATS} then 'ready' else 'completed' end, 'a', 'm', false, 'u', '', now() - n * interval '1 ms',
     gen_random_uuid(), n::text
   from generate_series(0, ${ROWS - 1}) n`,
  `insert into chat.message (chat, event_id, turn, role, content, created_at)
   select chat, number * 3, id, 'assistant', 'text', created_at from chat.turn where workspace_id = 'other'`,
  `insert into chat.event (created_at, chat, id, turn, event)
   select now(), chat, number * 3, id, '\\x1200' from chat.turn where workspace_id = 'other'`,
  `insert into chat.step (turn, number, content) select id, 1, '{}' from chat.turn where workspace_id = 'other'`,
  `insert into chat.tool_call (turn, id, step, tool, args, status, started_at)
   select id, 'c', 1, 't', '{}', 'succeeded', now() from chat.turn where workspace_id = 'other'`,
  `insert into chat.file (id, user_id, name, size, created_at, expires_at)
   select gen_random_uuid(), 'user ' || n, 'f', 1, now(), now() + interval '1 day' from generate_series(1, ${ROWS}) n`,
  `insert into chat.usage (workspace_id, day, model) select 'w' || n, current_date, 'm' from generate_series(1, ${ROWS}) n`,
];

test("[NFR] no statement of a turn reads more when the tables have become long since it was planned", async () => {
  await using rig = await startChatRig({ instances: [["api"]] });
  await using resources = new AsyncDisposableStack();
  const { databaseUrl: url, turnsPerWorkspace } = rig.config;
  // One connection each, so that later executions have the plans of the first ones.
  const connection = { url, maxConnections: 1, applicationName: "test" };
  const pool = resources.adopt(createPool(connection), (owned) => owned.end());
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  const now = () => new Date();
  const queues = turnQueues(turnsPerWorkspace);
  const turns = createTurns({ pool, queuePool, queues, bus: rig.bus, now, onError: console.error });

  /** Does what the service does for a chat of three turns: one answered by two workers, one stopped, one reset. */
  async function wholeChat(name: string): Promise<void> {
    const request = rig.request(name, "Hi", { clientMessageId: "first" });
    const first = started(await turns.start(request));
    await turns.start(request);
    const claimOne = async () => {
      const [claimed] = (await claimTurns(queuePool, queues.chat, now(), 1)).turns;
      if (!claimed) throw new Error("nothing is due");
      return claimed;
    };
    await releaseTurn(queuePool, queues.chat, await claimOne());
    const turn = await claimOne();
    await loadTurn(queuePool, turn, { onlyEnds: false });
    const second = started(await turns.start(rig.request(name, "Wait")));
    const call = { id: "c", tool: "t", args: "{}", step: 1, result: "", durationMs: 1, suppressed: [] };
    const entry: TurnWrite = {
      turn: turn.id,
      token: turn.token,
      chat: turn.chat,
      before: turn.firstEventId,
      events: [storedEvent(messageEvent("assistant", "Hello", now()))],
      calls: [{ ...call, status: "started" }],
      step: { number: 1, html: "", calls: [], model: "m", inputTokens: 1, outputTokens: 1 },
      written: false,
    };
    await writeTurns(queuePool, [entry], now());
    expect(entry.written).toBe(true);
    expect(await renewLeases(queuePool, [turn], now())).toHaveLength(1);
    expect(await expireLeases(queuePool, queues.chat, now())).toBe(0);
    const before = turn.firstEventId + 1;
    const events = [storedEvent(doneEvent())];
    const answer = { eventId: before, html: "Hello" };
    const tokens = { model: "m", inputTokens: 1, outputTokens: 1 };
    const end = { turn, before, events, answer, status: "completed" as const, ...tokens };
    const ended = await endTurn(queuePool, queues.chat, end, now());
    expect(ended?.next?.id).toBe(second.id);
    await refuseWaiting(pool, now());
    await readAll(first.chat, turn.id);
    const { owner, workspaceId, chatId } = request;
    expect(await turns.stop({ owner, workspaceId, chatId })).toBe(true);
    started(await turns.start(rig.request(name, "Again")));
    await turns.reset({ owner, workspaceId, chatId });
  }

  async function readAll(chat: number, id: string): Promise<void> {
    const all = Number.MAX_SAFE_INTEGER;
    const part = { limit: 50, maxBytes: all };
    expect((await readEvents(pool, chat, 0, part)).events.length).toBeGreaterThan(2);
    await readToolEvents(pool, chat, 0, all);
    await readLastTexts(pool, chat, 0, all);
    expect(await readHistory(pool, chat, { before: all, ...part })).toHaveLength(3);
    await readMessagesAfter(pool, chat, { after: 0, ...part });
    await findTurn(pool, id);
    expect(await findReply(pool, { id, chat })).toBe("Hello");
    await findEndOfTurns(pool, chat, 10);
  }

  const rowsReadBy = async (work: () => Promise<void>) => {
    const before = await rowsRead(rig.pool, [pool, queuePool]);
    await work();
    return (await rowsRead(rig.pool, [pool, queuePool])) - before;
  };
  // A statement is planned for any values once it has run often enough.
  for (let count = 0; count < 6; count += 1) await wholeChat(`before ${count}`);
  // On one connection, which reports what it has read before anything is measured.
  await rig.pool.query([...FILL, "select pg_stat_force_next_flush()"].join(";\n"));
  expect(await rowsReadBy(() => wholeChat("after"))).toBeLessThan(MAX_ROWS_READ);
  // The same with what the server finds out about the tables later.
  await rig.pool.query("analyze");
  for (let count = 0; count < 6; count += 1) await wholeChat(`later ${count}`);
  const read = await rowsReadBy(async () => {
    await wholeChat("last");
    // Now and then, so that the server knows the tables by then.
    await deleteOldTurns(pool, now());
    await findExpiredFiles(pool, { now: now(), after: undefined, limit: 100 });
  });
  expect(read).toBeLessThan(MAX_ROWS_READ);
  // What is counted can be seen.
  expect(read).toBeGreaterThan(10);
}, 300_000);

async function rowsRead(admin: Pool, pools: readonly Pool[]): Promise<number> {
  for (const pool of pools) await pool.query("select pg_stat_force_next_flush()");
  const { rows } = await admin.query(
    `select (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = 'chat')
       + (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = 'chat') as rows`,
  );
  return Number(rows[0].rows);
}
