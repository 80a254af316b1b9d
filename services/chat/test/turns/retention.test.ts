import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deleteOldTurns } from "../../src/store/retention.ts";
import { type ChatRig, startChatRig, streamedText } from "../chat-rig.ts";
import { clientsOf } from "../management/clients.ts";
import { say } from "../scripted-model.ts";
import { readAll } from "./read-all.ts";

let rig: ChatRig;
beforeAll(async () => {
  rig = await startChatRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

it("[CHAT-26] turns that ended long ago are deleted, with their calls; messages and turns that run stay", async () => {
  rig.model.answer(say("Hello."));
  const old = await rig.send("old", "Hi");
  await rig.untilDone(old);
  rig.model.answer(undefined);
  const running = await rig.send("running", "Hi");
  await rig.pool.query("update chat.turn set created_at = created_at - interval '31 days'");
  const recent = await rig.send("recent", "Hi");
  await deleteOldTurns(rig.pool, new Date());
  const { rows } = await rig.pool.query("select id from chat.turn order by number, id");
  expect(rows.map(({ id }) => id).sort()).toEqual([running.id, recent.id].sort());
  expect(await rig.history(old.chat)).toHaveLength(2);
});

it("[CHAT-22] a stream that resumes after events that are no longer stored gets whole messages, then the rest", async () => {
  await using rig = await startChatRig();
  const first = await rig.send("resumed", "One");
  (await rig.model.call(0)).say("First.");
  await rig.untilDone(first);
  const second = await rig.send("resumed", "Two");
  const call = await rig.model.call(1);
  call.text("Second, ");
  await eventually(async () => expect(streamedText(await rig.events(first.chat))).toContain("Second, "));
  call.say("to its end.");
  await rig.untilDone(second);
  const third = await rig.send("resumed", "Three");
  (await rig.model.call(2)).say("Third.");
  await rig.untilDone(third);
  const kept = third.firstEventId - 2;
  await rig.pool.query("delete from chat.event where chat = $1 and id < $2", [first.chat, kept]);
  await rig.pool.query("update chat.chat set owner = 'manager' where chat_id = 'resumed'");
  const { chats } = clientsOf(rig);
  const resume = async (after: number, turn = "") => {
    const events = await readAll(chats, "resumed", { afterEventId: BigInt(after), turn });
    return events.map(({ event }) => (event.case === "message" ? event.value.content : event.case));
  };
  const rest = ["Three", "Third.", "done"];
  expect(await resume(0)).toEqual(["One", "First.", "Two", "Second, to its end.", ...rest]);
  expect(await resume(second.firstEventId)).toEqual(["Second, to its end.", ...rest]);
  expect(await resume(second.firstEventId + 1)).toEqual(["to its end.", "done", ...rest]);
  expect(await resume(third.firstEventId - 1)).toEqual(rest);
  expect(await resume(0, first.id)).toEqual(["One", "First.", "done"]);
  expect(await resume(0, second.id)).toEqual(["Two", "Second, to its end.", "done"]);
  expect(await resume(second.firstEventId, second.id)).toEqual(["Second, to its end.", "done"]);
  expect(await resume(second.firstEventId + 1, second.id)).toEqual(["to its end.", "done"]);
  expect(await resume(0, third.id)).toEqual(rest);
});
