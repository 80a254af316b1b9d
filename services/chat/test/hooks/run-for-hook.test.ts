import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import { assistantRuns } from "../management/clients.ts";
import { say } from "../scripted-model.ts";

const WRITING = `export default async (_, ctx) => {
  await ctx.writeToSheet("s", "A1", [[1]]);
  return { written: true };
};`;

let rig: ChatRig;
beforeAll(async () => {
  rig = await startChatRig();
  await rig.tools.saveTool("write", { description: "Writes.", handler: WRITING });
});
beforeEach(() => {
  rig.model.answer(say("Done."));
});
afterAll(() => rig[Symbol.asyncDispose]());

const requestOf = (assistant: string, chatId = `hook_7_0_${randomUUID()}`) => ({
  workspaceId: rig.tools.workspaceId,
  workspace: "acme",
  assistant,
  chatId,
  message: "<untrusted_webhook_data>\n{}\n</untrusted_webhook_data>",
  hookId: 7n,
});

async function turnOf(chatId: string) {
  const { rows } = await rig.pool.query(
    `select t.*, c.owner from chat.turn t join chat.chat c on c.id = t.chat where c.chat_id = $1`,
    [chatId],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

test("[IN-55] [IN-60] [IN-62] a released assistant replies in a chat of the hook, without a user, in the lane of hooks", async () => {
  await rig.saveAssistant("clerk", { inboundHook: true, suggestions: ["More"] });
  const request = requestOf("clerk");
  const { outcome } = await assistantRuns(rig).runForHook(request);
  expect(outcome).toEqual({ case: "reply", value: "Done." });
  expect(await turnOf(request.chatId)).toMatchObject({ lane: "hook", owner: "hook:7", hop: 2, read_only: true });
  expect(rig.model.calls.at(-1)?.request.messages.at(-1)).toMatchObject({ role: "user", text: request.message });
});

test("[IN-55] [IN-59] an assistant that does not exist, was deleted or is not released starts nothing", async () => {
  await rig.saveAssistant("private", { inboundHookWrite: true });
  await rig.saveAssistant("gone", { inboundHook: true });
  await rig.pool.query("update chat.assistant set deleted = true where name = 'gone'");
  const runs = assistantRuns(rig);
  const before = rig.model.calls.length;
  for (const assistant of ["private", "gone", "nobody", "assistant"]) {
    const { workspaceId } = rig.tools;
    expect(await runs.checkAssistant({ workspaceId, assistant })).toMatchObject({ released: false });
    const { outcome } = await runs.runForHook(requestOf(assistant));
    expect([assistant, outcome.case]).toEqual([assistant, "notReleased"]);
  }
  await rig.saveAssistant("clerk", { inboundHook: true });
  expect(await runs.checkAssistant({ workspaceId: rig.tools.workspaceId, assistant: "clerk" })).toMatchObject({
    exists: true,
    released: true,
  });
  const foreign = { ...requestOf("clerk"), workspaceId: randomUUID() };
  expect((await runs.runForHook(foreign)).outcome.case).toBe("notReleased");
  expect(rig.model.calls).toHaveLength(before);
});

test.each([
  ["[IN-56] tools of a hook's run only read", false],
  ["[IN-57] with inbound_hook_write they may write", true],
])("%s", async (_, inboundHookWrite) => {
  await rig.saveAssistant("writer", { inboundHook: true, inboundHookWrite, tools: ["write"] });
  rig.model.answer((call) => {
    const last = call.request.messages.at(-1);
    if (last?.role === "tool") call.text(last.results[0]?.failed ? "It failed." : "It is written.");
    else call.callTool("write");
    call.finish();
  });
  const { outcome } = await assistantRuns(rig).runForHook(requestOf("writer"));
  expect(outcome).toEqual({ case: "reply", value: inboundHookWrite ? "It is written." : "It failed." });
});

test("[IN-58] the release is checked again when the turn starts", async () => {
  await using alone = await startChatRig({ instances: [["api"]] });
  await alone.saveAssistant("clerk", { inboundHook: true });
  const request = { ...requestOf("clerk"), workspaceId: alone.tools.workspaceId };
  const reply = assistantRuns(alone).runForHook(request);
  await eventually(async () => (await alone.pool.query("select from chat.turn")).rowCount === 1);
  await alone.saveAssistant("clerk", { inboundHook: false });
  await alone.start(["worker"]);
  expect((await reply).outcome.case).toBe("notReleased");
  expect(alone.model.calls).toHaveLength(0);
});

test("[IN-60] the same chat id starts nothing twice: repeats get the first run's reply, even after the release has ended", async () => {
  await rig.saveAssistant("once", { inboundHook: true });
  const from = rig.model.calls.length;
  rig.model.answer(undefined);
  const request = requestOf("once");
  const replies = Promise.all(Array.from({ length: 5 }, () => assistantRuns(rig).runForHook(request)));
  const call = await rig.model.call(from);
  call.say("Once.");
  for (const { outcome } of await replies) expect(outcome).toEqual({ case: "reply", value: "Once." });
  await rig.saveAssistant("once", { inboundHook: false });
  const late = await assistantRuns(rig).runForHook(request);
  expect(late.outcome).toEqual({ case: "reply", value: "Once." });
  expect(rig.model.calls).toHaveLength(from + 1);
  await turnOf(request.chatId);
});

test("[IN-60] a chat of another owner is not joined", async () => {
  await rig.saveAssistant("clerk", { inboundHook: true });
  await rig.untilDone(await rig.send("hook_7_0_taken", "Hi"));
  await expect(assistantRuns(rig).runForHook(requestOf("clerk", "hook_7_0_taken"))).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test("[IN-63] a failed run's response says why, without details", async () => {
  await rig.saveAssistant("clerk", { inboundHook: true });
  rig.model.answer((call) => call.fail(new ModelError("refused", "a detail", { beforeOutput: true })));
  const { outcome } = await assistantRuns(rig).runForHook(requestOf("clerk"));
  expect(outcome.case).toBe("error");
  expect(outcome.value).toMatch(/did not answer/);
});

test("[IN-60] a process that stops lets its callers repeat the call at another, which gets the reply", async () => {
  await rig.saveAssistant("slow", { inboundHook: true });
  const from = rig.model.calls.length;
  rig.model.answer(undefined);
  const stopping = await rig.start(["api"]);
  const request = requestOf("slow");
  const first = assistantRuns(rig, stopping).runForHook(request);
  const refused = expect(first).rejects.toMatchObject({ code: Code.Unavailable });
  const call = await rig.model.call(from);
  await stopping.drain();
  await refused;
  const second = assistantRuns(rig).runForHook(request);
  call.say("At last.");
  expect((await second).outcome).toEqual({ case: "reply", value: "At last." });
});
