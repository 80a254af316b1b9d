import { type Client, createClient } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { eventually } from "@toolgate/testbed/eventually";
import { principalHeaders } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatRig, startChatRig } from "../chat-rig.ts";

const LOCK = 4_711;

describe("the model is asked while the message is being stored", () => {
  let rig: ChatRig;
  let chat: Client<typeof ChatService>;
  beforeAll(async () => {
    rig = await startChatRig();
    const log = createLogger({ service: "test", level: "silent" });
    chat = createClient(
      ChatService,
      testTransport((router) => rig.services[0]?.routes(router), log),
    );
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  function send(chatId: string, clientMessageId = "m-1") {
    const { workspaceId } = rig.tools;
    const principal = { userId: "u", email: "u@example.test", workspaceId, workspace: "acme", role: "member" } as const;
    const request = { chatId, message: "Hi", clientMessageId };
    return chat.sendMessage(request, { headers: principalHeaders(principal) });
  }

  /** Runs a statement of PL/pgSQL in the commit of each new turn, until disposed. */
  async function inCommit(statement: string): Promise<AsyncDisposable> {
    await rig.pool.query(`create or replace function chat.test_commit() returns trigger language plpgsql as $$
      begin ${statement}; return null; end $$`);
    await rig.pool.query(`create constraint trigger test_commit after insert on chat.turn
      deferrable initially deferred for each row execute function chat.test_commit()`);
    return {
      [Symbol.asyncDispose]: async () => {
        await rig.pool.query("drop trigger if exists test_commit on chat.turn");
      },
    };
  }

  async function stored(chatId: string): Promise<{ turns: number; answers: number }> {
    const { rows } = await rig.pool.query(
      `select count(distinct t.id)::int as turns, count(distinct m.event_id) filter (where m.role = 'assistant')::int as answers
       from chat.chat c join chat.turn t on t.chat = c.id left join chat.message m on m.chat = c.id where c.chat_id = $1`,
      [chatId],
    );
    return rows[0];
  }

  test("[CHAT-16] and nothing of its answer is stored or sent before the message is", async () => {
    await using _ = await inCommit(`perform pg_advisory_xact_lock(${LOCK})`);
    const holder = await rig.pool.connect();
    await holder.query("select pg_advisory_lock($1)", [LOCK]);
    try {
      let answered = false;
      const reply = send("slow").then((response) => {
        answered = true;
        return response.reply;
      });
      const call = await rig.model.call(0);
      call.text("<p>Yes.</p>");
      call.finish();
      await eventually(async () => {
        const { rows } = await rig.pool.query(
          "select from pg_locks where locktype = 'advisory' and objid = $1 and not granted",
          [LOCK],
        );
        return rows.length === 1;
      });
      expect([answered, await stored("slow")]).toEqual([false, { turns: 0, answers: 0 }]);
      await holder.query("select pg_advisory_unlock($1)", [LOCK]);
      expect(await reply).toBe("<p>Yes.</p>");
      expect(await stored("slow")).toEqual({ turns: 1, answers: 1 });
    } finally {
      holder.release(true);
    }
  });

  test("[CHAT-16] and its answer is dropped when the message could not be stored", async () => {
    const asked = rig.model.calls.length;
    {
      await using _ = await inCommit("raise exception 'not today'");
      await expect(send("failing")).rejects.toThrow();
    }
    const lost = await rig.model.call(asked);
    lost.text("<p>Never sent.</p>");
    await eventually(() => lost.closed);
    expect(await stored("failing")).toEqual({ turns: 0, answers: 0 });
    const again = send("failing");
    const call = await rig.model.call(asked + 1);
    call.text("<p>Sent.</p>");
    call.finish();
    expect((await again).reply).toBe("<p>Sent.</p>");
    expect(await stored("failing")).toEqual({ turns: 1, answers: 1 });
  });

  test("[CHAT-55] unless the history is large: then it is asked after that, and not at all when nothing was stored", async () => {
    const first = rig.model.call(rig.model.calls.length);
    const reply = send("long");
    (await first).text("<p>Yes.</p>");
    (await first).finish();
    await reply;
    await rig.pool.query(`update chat.message set content = repeat('x', 100000) where content = '<p>Yes.</p>'`);
    const asked = rig.model.calls.length;
    {
      await using _ = await inCommit("raise exception 'not today'");
      await expect(send("long", "m-2")).rejects.toThrow();
    }
    // Longer than it would take to load the turn too early, and find nothing.
    await using _ = await inCommit("perform pg_sleep(0.5)");
    const again = send("long", "m-2");
    const call = await rig.model.call(asked);
    expect(call.request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    call.text("<p>Sent.</p>");
    call.finish();
    expect((await again).reply).toBe("<p>Sent.</p>");
    expect(rig.model.calls).toHaveLength(asked + 1);
    const { rows } = await rig.pool.query("select attempts from chat.turn where client_message_id = 'm-2'");
    expect(rows).toEqual([{ attempts: 1 }]);
  });
});
