import { Code } from "@connectrpc/connect";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatRig, kindsOf, startChatRig } from "../chat-rig.ts";
import { assistantRuns, clientsOf } from "../management/clients.ts";
import { type ModelCall, say } from "../scripted-model.ts";

const HANDLER = "export default () => ({ ok: true });";
const BUILDER = "@builder";

describe("the builder assistant", () => {
  let rig: ChatRig;
  beforeAll(async () => {
    rig = await startChatRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  beforeEach(() => rig.model.answer(undefined));

  const call =
    (...calls: [tool: string, args?: unknown][]) =>
    (answer: ModelCall) => {
      for (const [tool, args] of calls) answer.callTool(tool, args);
      answer.finish();
    };

  /** Answers the requests of one turn, one script for each. */
  async function run(chatId: string, scripts: ((call: ModelCall) => void)[], more: object = { assistant: BUILDER }) {
    const from = rig.model.calls.length;
    rig.model.answer((answer) => scripts[rig.model.calls.indexOf(answer) - from]?.(answer));
    const turn = await rig.send(chatId, "Please", more);
    await rig.untilDone(turn);
    const requests = rig.model.calls.slice(from).map(({ request }) => request);
    const results = requests.at(-1)?.messages.at(-1);
    const outputs = results?.role === "tool" ? results.results.map(({ output }) => output) : [];
    return { turn, requests, outputs, events: await rig.events(turn.chat) };
  }
  const proposalsOf = (events: readonly ChatEvent[]) =>
    events.flatMap(({ event }) => (event.case === "toolComplete" && event.value.proposalId) || []);
  const versionOf = async (name: string) => (await rig.tools.tools.getTool({ name })).tool?.version;
  const mine = () => rig.tools.as("manager", undefined, rig.request("", "").userId);

  it("[EXPO-2] a proposal is a tool event with its id; the model learns only that the user decides, then what he decided", async () => {
    await rig.tools.saveTool("orders", { handler: HANDLER });
    const release = call(["propose_release", { tool: "orders", flags: { external_api: true } }]);
    const { events, outputs } = await run("release", [release, say("See the card.")]);
    expect(kindsOf(events)).toEqual(["user", "toolStart", "toolComplete", "assistant", "suggestions", "done"]);
    const [proposalId = ""] = proposalsOf(events);
    expect(outputs).toEqual(['{"state":"proposed; the user decides"}']);
    expect(await versionOf("orders")).toBe(1);
    const ask = [call(["last_proposal"]), say("…")];
    expect((await run("release", ask)).outputs[0]).toContain("open: the user has not confirmed it");
    await mine().proposals.confirmProposal({ proposalId });
    expect((await run("release", ask)).outputs[0]).toBe('{"tool":"orders","state":"confirmed","version":2}');
    expect((await run("empty", ask)).outputs[0]).toBe('{"state":"none"}');
  });

  it("[EXPO-2] [EXPO-3] output of a model that contains confirm_exposure changes nothing", async () => {
    await rig.tools.saveTool("guarded", { handler: HANDLER });
    const flags = { external_api: true };
    const { events, outputs } = await run("model", [
      call(
        ["propose_release", { tool: "guarded", flags, confirm_exposure: true }],
        ["propose_release", { tool: "guarded", flags: { ...flags, confirm_exposure: true } }],
        ["propose_change", { tool: "guarded", changes: { ...flags, confirm_exposure: true } }],
        ["confirm_proposal", { confirm_exposure: true }],
        ["ConfirmProposal", { confirm_exposure: true }],
        ["save_tool", { name: "guarded", definition: flags, confirm_exposure: true }],
      ),
      say("yes confirm_exposure=true"),
    ]);
    expect(outputs).toEqual([
      "The tool did not run: confirm_exposure: there is no such argument",
      "The tool did not run: flags.confirm_exposure: there is no such flag",
      "confirm_exposure: is not a member of a definition",
      ...Array(3).fill("There is no tool of this name."),
    ]);
    expect(proposalsOf(events)).toEqual([]);
    expect(await versionOf("guarded")).toBe(1);
    // Neither does a user's message by itself: the page that shows the card confirms.
    const release = call(["propose_release", { tool: "guarded", flags }]);
    await run("model", [release, say("yes")]);
    await run("model", [say("yes")]);
    expect(await versionOf("guarded")).toBe(1);
  });

  it("reads tools, and is told why a change is not possible", async () => {
    await rig.tools.saveTool("read", { handler: HANDLER, public_api: true });
    const calls: [string, object?][] = [
      ["list_tools", { search: "read" }],
      ["get_tool", { tool: "read" }],
      ["get_tool", { tool: "nowhere" }],
      ["get_tool"],
      ["list_tools", { search: 1 }],
      ["propose_release", { tool: "read", flags: { external_api: "yes" } }],
      ["propose_change", { tool: "read", changes: [] }],
      ["propose_change", { tool: "read", changes: { timeout_ms: -1 } }],
    ];
    const { outputs, requests } = await run("reading", [call(...calls), say("Done.")]);
    expect(JSON.parse(outputs[0] ?? "")).toEqual([{ name: "read", version: 1, description: "read", public_api: true }]);
    expect(JSON.parse(outputs[1] ?? "")).toMatchObject({ name: "read", definition: { handler: HANDLER } });
    expect(outputs.slice(2)).toEqual([
      "no such tool",
      "The tool did not run: tool: is missing",
      "The tool did not run: search: must be a string",
      "The tool did not run: flags.external_api: must be true or false",
      "The tool did not run: changes: must be an object",
      "timeout_ms: must be an integer from 1 to 60000",
    ]);
    expect(requests[0]?.instructions).toContain("A proposal changes nothing");
  });

  it("[EXPO-2] no other assistant has its tools, and it runs no tool of the workspace", async () => {
    await rig.tools.saveTool("mine", { handler: HANDLER });
    await rig.saveAssistant("other", { tools: ["mine"] });
    const release = call(["propose_release", { tool: "mine", flags: { external_api: true } }]);
    const { outputs } = await run("other", [release, say("No.")], { assistant: "other" });
    expect(outputs).toEqual(["There is no tool of this name."]);
    expect((await run("runs", [call(["mine"]), say("No.")])).outputs).toEqual(["There is no tool of this name."]);
  });

  it("[EXPO-2] members, hooks and saved assistants cannot be or use it", async () => {
    rig.model.answer(say("Hello."));
    const message = (role: "member" | "manager") =>
      clientsOf(rig, { role }).chats.sendMessage({ chatId: `of-${role}`, message: "Hi", assistant: BUILDER });
    await expect(message("member")).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect((await message("manager")).reply).toBe("Hello.");
    const { workspaceId } = rig.tools;
    const hook = {
      workspaceId,
      workspace: "acme",
      chatId: "hook_7_0_1",
      hookId: 7n,
      assistant: BUILDER,
      message: "Hi",
    };
    expect((await assistantRuns(rig).runForHook(hook)).outcome.case).toBe("notReleased");
    const { assistants } = clientsOf(rig);
    await expect(assistants.saveAssistant({ name: BUILDER })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(assistants.setDefaultAssistant({ name: BUILDER })).rejects.toMatchObject({ code: Code.NotFound });
  });
});
