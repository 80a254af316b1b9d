import { createClient } from "@connectrpc/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { eventually } from "@toolgate/testbed/eventually";
import { principalHeaders } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { afterEach, describe, expect, it } from "vitest";
import type { TurnRef } from "../../src/store/turns/start.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";

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
    call.text("Done.");
    call.finish();
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
    ending?.text("One.");
    ending?.finish();
    await rig.model.call(2);
    await eventually(async () => expect((await statuses()).sort()).toEqual(["completed", "running", "running"]));
  });

  it("[CHAT] turns begin without a wake-up too, and their events reach readers, when the broker is down", async () => {
    rig = await startChatRig();
    rig.model.answer((call) => {
      call.text("Hello.");
      call.finish();
    });
    const log = createLogger({ service: "test", level: "silent" });
    const transport = testTransport((router) => rig?.services[0]?.routes(router), log);
    const { workspaceId, owner: userId } = rig.request("no-broker", "");
    const principal = { userId, email: "u@example.test", workspaceId, workspace: "acme", role: "member" } as const;
    await rig.tools.nats.stop();
    const request = { chatId: "no-broker", message: "Hi" };
    const answer = createClient(ChatService, transport).streamAnswer(request, { headers: principalHeaders(principal) });
    let text = "";
    for await (const { event } of answer) if (event?.event.case === "message") text += event.event.value.content;
    expect(text).toContain("Hello.");
    await rig.tools.nats.restart();
  });
});
