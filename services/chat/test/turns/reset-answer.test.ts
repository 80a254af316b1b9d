import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { answerOf } from "../../src/followers/answer-of.ts";
import { createFollowers } from "../../src/followers/followers.ts";
import { startChatRig, streamedText } from "../chat-rig.ts";

test("[CHAT-13] [CHAT-32] after a reset, the response to the running turn is an error, not a partial answer", async () => {
  await using rig = await startChatRig();
  using followers = createFollowers({ bus: rig.bus, pool: rig.pool, onError: () => {} });
  const calling = rig.model.call(rig.model.calls.length);
  const turn = await rig.send("reset-answer", "Hi");
  const waiting = await rig.send("reset-answer", "And?");
  const { signal } = new AbortController();
  const answers = Promise.all([turn, waiting].map((each) => answerOf({ db: rig.pool, followers }, each, signal)));
  (await calling).text("Half an ans");
  await eventually(async () => expect(streamedText(await rig.events(turn.chat))).toBe("Half an ans"));
  await rig.turns.reset(rig.request("reset-answer", ""));
  for (const answer of await answers) expect(answer).toMatchObject({ reply: "", error: { code: "CHAT_RESET" } });
});
