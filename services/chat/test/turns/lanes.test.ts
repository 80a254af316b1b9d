import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, describe, expect, it } from "vitest";
import type { TurnRef } from "../../src/store/turns/start.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import { clientsOf } from "../management/clients.ts";
import { say } from "../scripted-model.ts";

describe("lanes of turns", () => {
  let rig: ChatRig;
  afterEach(() => rig[Symbol.asyncDispose]());

  it("[IN-66] turns of hooks have a lane of their own, which full lanes of chats do not delay", async () => {
    rig = await startChatRig({ config: { turnsPerWorker: 1, turnsPerWorkspace: 1 } });
    for (const chatId of ["a", "b"]) await rig.send(chatId, "Hi");
    await rig.model.call(0);
    await rig.saveAssistant("released", { inboundHook: true });
    const hook = { lane: "hook" as const, owner: "hook:7", hop: 2 as const, readOnly: true, assistant: "released" };
    const turn = await rig.send("hook_7_1_x", "Data", hook);
    const call = await rig.model.call(1);
    expect(call.request.messages).toMatchObject([{ text: "Data" }]);
    call.say("Done.");
    await rig.untilDone(turn);
    expect(rig.model.calls).toHaveLength(2);
    rig.model.calls[0]?.finish();
    expect((await rig.model.call(2)).request.messages).toMatchObject([{ text: "Hi" }]);
  });

  it("[CHAT] a workspace runs a limited number of turns at the same time, over all workers", async () => {
    rig = await startChatRig({ instances: [["worker"], ["worker"]], config: { turnsPerWorkspace: 2 } });
    const turns: TurnRef[] = [];
    for (const chatId of ["a", "b", "c"]) turns.push(await rig.send(chatId, "Hi"));
    await rig.model.call(1);
    const statuses = async () => Promise.all(turns.map((turn) => rig.status(turn)));
    await eventually(async () => expect((await statuses()).sort()).toEqual(["ready", "running", "running"]));
    const ending = rig.model.calls[0];
    ending?.say("One.");
    await rig.model.call(2);
    await eventually(async () => expect((await statuses()).sort()).toEqual(["completed", "running", "running"]));
  });

  it("[CHAT] turns begin and are answered without a wake-up too, when the broker is down", async () => {
    rig = await startChatRig();
    rig.model.answer(say("Hello."));
    await rig.tools.nats.stop();
    const { reply } = await clientsOf(rig).chats.sendMessage({ chatId: "no-broker", message: "Hi" });
    expect(reply).toBe("Hello.");
    await rig.tools.nats.restart();
  });
});
