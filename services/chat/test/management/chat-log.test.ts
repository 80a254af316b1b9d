import { Code } from "@connectrpc/connect";
import { ToolCallStatus } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import { clientsOf } from "./clients.ts";

const OWN = { owner: "manager", userId: "manager" };

let rig: ChatRig;
beforeAll(async () => {
  rig = await startChatRig();
  await rig.tools.saveTool("double", {
    handler: "export default ({ n }) => ({ twice: n * 2 });",
    parameters: { type: "object", properties: { n: { type: "integer" } } },
  });
  await rig.saveAssistant("helper", { tools: ["double"] });
});
afterAll(() => rig[Symbol.asyncDispose]());

async function chatWith(chatId: string, message: string, more: object = OWN): Promise<void> {
  rig.model.answer((call) => {
    if (!call.request.messages.some(({ role }) => role === "tool")) call.callTool("double", { n: 4 });
    else call.text("Eight.");
    call.finish();
  });
  await rig.untilDone(await rig.send(chatId, message, more));
}

test("[CHAT] users list their own chats, page by page and newest first, and nobody else's", async () => {
  const long = "x".repeat(300);
  for (const chatId of ["one", "two", "three"]) await chatWith(chatId, chatId === "two" ? long : `First of ${chatId}`);
  await chatWith("one", "A second message");
  await chatWith("of-another", "Private", {});
  const { chatLog, chats } = clientsOf(rig);
  const first = await chatLog.listChats({ pageSize: 2 });
  expect(first.chats).toMatchObject([
    { chatId: "three", title: "First of three", assistant: "helper" },
    { chatId: "two", title: long.slice(0, 200) },
  ]);
  const second = await chatLog.listChats({ pageSize: 2, pageToken: first.nextPageToken });
  expect(second).toMatchObject({ chats: [{ chatId: "one", title: "First of one" }], nextPageToken: "" });
  const [one] = second.chats;
  expect(Number(one?.usedAt?.seconds)).toBeGreaterThanOrEqual(Number(one?.createdAt?.seconds));
  await chats.resetChat({ chatId: "three" });
  expect((await chatLog.listChats({ pageSize: 1 })).chats).toMatchObject([{ chatId: "three", title: "" }]);
  expect((await clientsOf(rig, { role: "member" }).chatLog.listChats({})).chats).toEqual([]);
  await expect(chatLog.listChats({ pageToken: "x" })).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test("[CHAT] what a tool was asked and answered is shown to the manager whose chat it is, and to nobody else", async () => {
  await chatWith("asked", "Twice four?");
  await chatWith("of-another", "Private", {});
  const { chatLog } = clientsOf(rig);
  const { call } = await chatLog.getToolCall({ chatId: "asked", callId: "call_1_1_1" });
  expect(call).toMatchObject({ tool: "double", args: '{"n":4}', status: ToolCallStatus.SUCCEEDED, suppressed: [] });
  expect(JSON.parse(call?.result ?? "")).toMatchObject({ twice: 8 });
  const refused = (chatId: string, callId: string) => chatLog.getToolCall({ chatId, callId });
  await expect(refused("asked", "call_1_1_2")).rejects.toMatchObject({ code: Code.NotFound });
  await expect(refused("asked", "\0")).rejects.toMatchObject({ code: Code.NotFound });
  await expect(refused("unknown", "call_1_1_1")).rejects.toMatchObject({ code: Code.NotFound });
  await expect(refused("of-another", "call_1_1_1")).rejects.toMatchObject({ code: Code.PermissionDenied });
  const member = clientsOf(rig, { role: "member" }).chatLog;
  await expect(member.getToolCall({ chatId: "asked", callId: "call_1_1_1" })).rejects.toMatchObject({
    code: Code.PermissionDenied,
    rawMessage: expect.not.stringContaining("belongs"),
  });
});
