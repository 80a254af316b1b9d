import { afterAll, beforeAll, expect, it } from "vitest";
import { deleteOldTurns } from "../../src/store/retention.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";

let rig: ChatRig;
beforeAll(async () => {
  rig = await startChatRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

it("[CHAT-26] turns that ended long ago are deleted, with their calls; messages and turns that run stay", async () => {
  rig.model.answer((call) => {
    call.text("Hello.");
    call.finish();
  });
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
