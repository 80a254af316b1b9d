import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, it } from "vitest";
import { readMessagesAfter } from "../../src/store/history.ts";
import { findReply } from "../../src/store/turns/find.ts";
import { finishResets } from "../../src/store/unfinished-resets.ts";
import { type ChatRig, expectDense, kindsOf, startChatRig } from "../chat-rig.ts";
import { clientsOf } from "../management/clients.ts";
import { say } from "../scripted-model.ts";
import { readAll } from "./read-all.ts";

const TURNS = 60;
const LAST_EVENT = 1_800;

/** What a chat has had answered: every turn has a step, a call, a file, two messages and 30 events. */
const FILL = [
  `insert into chat.turn (id, chat, number, workspace_id, workspace, lane, status, assistant, message, test_mode, user_id,
     request_id, created_at, first_event_id, last_event_id, file_id)
   select gen_random_uuid(), c.id, n, c.workspace_id, 'acme', 'chat', 'completed', 'helper', 'secret', false, c.owner, '',
     now(), n * 30 - 29, n * 30, gen_random_uuid()
   from chat.chat c, generate_series(1, ${TURNS}) n where c.id = $1`,
  `insert into chat.message (chat, event_id, turn, role, content, created_at)
   select chat, first_event_id, id, 'user', 'secret', now() from chat.turn where chat = $1
   union all select chat, first_event_id + 1, id, 'assistant', 'secret', now() from chat.turn where chat = $1`,
  `insert into chat.event (created_at, chat, id, turn, event)
   select now(), chat, first_event_id + n, id, '\\x1200' from chat.turn, generate_series(0, 29) n where chat = $1`,
  "insert into chat.step (turn, number, content) select id, 1, 'secret' from chat.turn where chat = $1",
  `insert into chat.tool_call (turn, id, step, tool, args, status, started_at)
   select id, 'c', 1, 't', 'secret', 'succeeded', now() from chat.turn where chat = $1`,
  `insert into chat.file (id, user_id, name, size, created_at, expires_at)
   select file_id, user_id, 'secret', 1, now(), now() + interval '1 day' from chat.turn where chat = $1`,
];

const LEFT = `select
  (select count(*) from chat.message where content = 'secret')
  + (select count(*) from chat.event where id <= ${LAST_EVENT})
  + (select count(*) from chat.step) + (select count(*) from chat.tool_call)
  + (select count(*) from chat.file where expires_at > $1)
  + (select count(*) from chat.turn where message = 'secret') as rows,
  (select count(*) from chat.unfinished_reset) as resets`;

async function left({ pool }: ChatRig): Promise<{ rows: number; resets: number }> {
  return (await pool.query(LEFT, [new Date()])).rows[0];
}

/** A chat of many turns. Resolves with its row. */
async function fillChat(rig: ChatRig, chatId: string): Promise<number> {
  const { workspaceId, owner } = rig.request(chatId, "");
  const { rows } = await rig.pool.query(
    `insert into chat.chat (workspace_id, chat_id, owner, created_at, used_at, last_event_id, last_turn)
     values ($1, $2, $3, now(), now(), ${LAST_EVENT}, ${TURNS}) returning id`,
    [workspaceId, chatId, owner],
  );
  const { id } = rows[0];
  for (const statement of FILL) await rig.pool.query(statement, [id]);
  return id;
}

it("[CHAT-31] a reset deletes a bounded part of a long chat at once; another process deletes the rest", async () => {
  await using rig = await startChatRig({ instances: [["api"]] });
  for (const chatId of ["long", "longer"]) await fillChat(rig, chatId);
  const { rows: all } = await left(rig);
  for (const chatId of ["long", "longer"]) await rig.turns.reset(rig.request(chatId, ""));
  const after = await left(rig);
  expect(after.resets).toBe(2);
  expect(after.rows).toBeGreaterThan(all / 2);
  await rig.start(["worker"]);
  await eventually(async () => expect(await left(rig)).toEqual({ rows: 0, resets: 0 }));
});

it("[CHAT-31] [CHAT-32] nobody sees what a reset has not deleted yet, and the model is not told either", async () => {
  await using rig = await startChatRig({ instances: [["api"]] });
  const chat = await fillChat(rig, "hidden");
  const turns = await rig.pool.query("select id from chat.turn where chat = $1 order by number desc limit 1", [chat]);
  const last = { id: turns.rows[0].id, chat };
  expect(await findReply(rig.pool, last)).toBe("secret");
  await rig.pool.query("update chat.chat set owner = 'manager' where id = $1", [chat]);
  const request = { ...rig.request("hidden", ""), owner: "manager" };
  await rig.turns.reset(request);
  // Keeps others from finishing the reset.
  await using other = new AsyncDisposableStack();
  const busy = await rig.pool.connect();
  other.defer(async () => {
    await busy.query("rollback");
    busy.release();
  });
  await busy.query("begin");
  await busy.query("select from chat.unfinished_reset for update");
  const { chats } = clientsOf(rig);
  expect(await readAll(chats, "hidden", { afterEventId: 0n })).toEqual([]);
  expect(await readAll(chats, "hidden", { since: timestampFromDate(new Date(0)) })).toEqual([]);
  expect(await rig.events(chat)).toEqual([]);
  expect(await rig.history(chat)).toEqual([]);
  expect(await readMessagesAfter(rig.pool, chat, { after: 0, limit: 10, maxBytes: 1_000 })).toEqual([]);
  expect(await findReply(rig.pool, last)).toBe("");
  rig.model.answer(say("Hello."));
  await rig.start(["worker"]);
  const next = await rig.send("hidden", "Hi", { owner: "manager" });
  await rig.untilDone(next);
  expect(rig.model.calls[0]?.request.messages).toMatchObject([{ role: "user", text: "Hi" }]);
  expect((await rig.history(chat)).map(({ content }) => content)).toEqual(["Hi", "Hello."]);
  const events = await rig.events(chat);
  expectDense(events, LAST_EVENT + 1);
  expect(kindsOf(events)).toEqual(["user", "assistant", "done"]);
  expect(await readAll(chats, "hidden", { afterEventId: 0n })).toEqual(events);
  expect((await left(rig)).rows).toBeGreaterThan(0);
  await other.disposeAsync();
  await eventually(async () => expect(await left(rig)).toEqual({ rows: 0, resets: 0 }));
  expect(await rig.history(chat)).toHaveLength(2);
});

it("[CHAT-31] workspaces take turns to have their resets finished, and a process that stops finishes no more", async () => {
  await using rig = await startChatRig({ instances: [["api"]] });
  await rig.pool.query(
    `with added as (
       insert into chat.chat (workspace_id, chat_id, owner, created_at, used_at)
       select workspace, number, 'someone', now(), now()
       from unnest(array['busy', 'busy', 'busy', 'quiet']) with ordinality w (workspace, number)
       returning id, workspace_id
     )
     insert into chat.unfinished_reset (chat, up_to, workspace_id) select id, 1, workspace_id from added`,
  );
  const stopping = new AbortController();
  let batches = 0;
  const now = () => {
    batches += 1;
    if (batches === 2) stopping.abort();
    return new Date();
  };
  await finishResets(rig.pool, now, stopping.signal);
  const { rows } = await rig.pool.query("select workspace_id as workspace from chat.unfinished_reset");
  expect(rows).toEqual([{ workspace: "busy" }, { workspace: "busy" }]);
});
