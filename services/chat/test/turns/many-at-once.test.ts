import { expect, it } from "vitest";
import { startChatRig } from "../chat-rig.ts";
import { say } from "../scripted-model.ts";

it("[CHAT] 200 simultaneous answers with two database connections all succeed", async () => {
  await using rig = await startChatRig({
    config: { databaseConnections: 2, turnsPerWorkspace: 1_000, turnsPerWorker: 1_000 },
  });
  rig.model.answer(say("Here."));
  const turns = await Promise.all(Array.from({ length: 200 }, (_, chat) => rig.send(`chat-${chat}`, "Hi")));
  await Promise.all(turns.map((turn) => rig.untilDone(turn)));
  const { rows } = await rig.pool.query("select status, count(*)::integer from chat.turn group by status");
  expect(rows).toEqual([{ status: "completed", count: 200 }]);
});
