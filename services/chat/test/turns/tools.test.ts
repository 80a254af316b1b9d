import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import { type ChatRig, expectDense, kindsOf, startChatRig, streamedText } from "../chat-rig.ts";
import { type ModelCall, say } from "../scripted-model.ts";

const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const WEATHER = "export default (args) => ({ success: true, weather: 'sunny in ' + args.city });";
const BROKEN = 'export default () => { throw new Error("internal detail"); };';
const POST = "export default (args, ctx) => ctx.fetch(args.url, { method: 'POST', body: { order: 1 } });";
const NESTED = 'export default async (args, ctx) => ({ inner: await ctx.callTool("post", args) });';

describe("tools of a turn", () => {
  let rig: ChatRig;
  beforeAll(async () => {
    rig = await startChatRig();
    await rig.tools.saveTool("weather", { handler: WEATHER, parameters: CITY });
    await rig.tools.saveTool("broken", { handler: BROKEN });
    const parameters = { type: "object", properties: { url: { type: "string" } } };
    await rig.tools.saveTool("post", { handler: POST, parameters });
    await rig.tools.saveTool("nested", { handler: NESTED, parameters });
    await rig.saveAssistant("agent", { tools: ["weather", "broken", "post", "nested", "nowhere"] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  beforeEach(() => rig.model.answer(undefined));

  /** Answers the requests of one turn, one script for each, and resolves with the turn and the requests. */
  async function run(chatId: string, scripts: ((call: ModelCall) => void)[], more = {}) {
    const from = rig.model.calls.length;
    rig.model.answer((call) => scripts[rig.model.calls.indexOf(call) - from]?.(call));
    const turn = await rig.send(chatId, "Please", { assistant: "agent", ...more });
    const { receipt } = await rig.untilDone(turn);
    const events = await rig.events(turn.chat);
    expectDense(events);
    return { turn, receipt, events, requests: rig.model.calls.slice(from).map(({ request }) => request) };
  }
  const use = (name: string, args?: unknown) => (call: ModelCall) => {
    call.text("Let me see.");
    call.callTool(name, args);
    call.finish();
  };

  it("[CHAT-37] [CHAT-38] a tool runs, its events are streamed without arguments, and the model gets its result", async () => {
    const { events, receipt, requests, turn } = await run("weather", [
      use("weather", { city: "Berlin" }),
      say("Sunny."),
    ]);
    expect(kindsOf(events)).toEqual(["user", "assistant", "toolStart", "toolComplete", "assistant", "done"]);
    expect(events[2]?.event.value).toMatchObject({ id: "call_1_1_1", tool: "weather" });
    expect(events[3]?.event.value).toMatchObject({ id: "call_1_1_1", tool: "weather", success: true });
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["broken", "nested", "post", "weather"]);
    expect(requests[1]?.messages.slice(-2)).toMatchObject([
      { role: "assistant", text: "Let me see.", toolCalls: [{ id: "m1", name: "weather" }] },
      {
        role: "tool",
        results: [{ id: "m1", output: expect.stringContaining("sunny in Berlin"), failed: false }],
      },
    ]);
    expect(streamedText(events)).toBe("Let me see.\nSunny.");
    expect((await rig.history(turn.chat)).at(-1)?.content).toBe("Let me see.\nSunny.");
    expect(receipt).toMatchObject({ inputTokens: 20, outputTokens: 10, tools: [{ tool: "weather", success: true }] });
    const { executions } = await rig.tools.executions.listExecutions({ entryType: "chat" });
    expect(executions[0]).toMatchObject({ tool: "weather", chatId: "weather", callerId: rig.request("", "").userId });
  });

  it("[CHAT] the model learns which arguments are wrong, and that a failed tool failed, but not why", async () => {
    const { requests, events } = await run("wrong", [
      (call) => {
        call.callTool("weather", { town: "Berlin" });
        call.callTool("broken");
        call.callTool("nobody\0<b>");
        call.callTool("weather", [1]);
        call.finish();
      },
      say("Sorry."),
    ]);
    const results = requests[1]?.messages.at(-1);
    const outputs = results?.role === "tool" ? results.results.map(({ output }) => output) : [];
    expect(outputs[0]).toContain("city");
    expect(outputs.slice(1)).toEqual([
      "The tool failed.",
      "There is no tool of this name.",
      "The tool did not run: its arguments are not a JSON object.",
    ]);
    expect(JSON.stringify(requests)).not.toContain("internal detail");
    expect(kindsOf(events).filter((kind) => kind === "toolStart")).toHaveLength(2);
    expect(kindsOf(events).at(-2)).toBe("assistant");
  });

  it("[CHAT-40] [CHAT-41] [CHAT-53] a tool that failed and a model that then fails give TOOL_FAILED before done", async () => {
    const fail = (call: ModelCall) => call.fail(new ModelError("overloaded", "no", { beforeOutput: true }));
    for (const [chatId, last] of [
      ["failing", fail],
      ["silent", say("")],
    ] as const) {
      const { events, turn } = await run(chatId, [use("broken"), last]);
      expect(kindsOf(events).slice(-2)).toEqual(["error", "done"]);
      expect(events.at(-2)?.event.value).toMatchObject({ code: "TOOL_FAILED" });
      expect(await rig.status(turn)).toBe("failed");
      expect((await rig.history(turn.chat)).at(-1)?.content).toBe("Let me see.");
    }
    const { events } = await run("model", [fail]);
    expect(kindsOf(events)).toEqual(["user", "error", "done"]);
    expect(events[1]?.event.value).toMatchObject({ code: "MODEL_FAILED" });
  });

  it("[CHAT] an answer that is cut is kept and closed, and the turn fails", async () => {
    const { events, turn } = await run("cut", [
      (call) => {
        call.text("<ul><li>One");
        call.fail(new ModelError("cut", "the connection closed", { beforeOutput: false }));
      },
    ]);
    expect(streamedText(events)).toBe("<ul><li>One</li></ul>");
    expect((await rig.history(turn.chat)).at(-1)?.content).toBe("<ul><li>One</li></ul>");
    expect(kindsOf(events).slice(-2)).toEqual(["error", "done"]);
  });

  it("[CHAT-9] [CHAT-10] test mode suppresses writes of tools, nested ones too, and the receipt names them", async () => {
    const url = `${rig.tools.receiver.url}/orders`;
    const orders = () => rig.tools.receiver.requests.filter(({ path }) => path === "/orders").length;
    const scripts = [use("nested", { url }), use("weather", { city: "Rome" }), say("Done.")];
    const tried = await run("trying", scripts, { testMode: true });
    expect(orders()).toBe(0);
    expect(tried.receipt?.suppressed).toEqual(["post"]);
    const real = await run("real", [use("nested", { url }), say("Done.")]);
    expect(orders()).toBe(1);
    expect(real.receipt?.suppressed).toEqual([]);
  });

  it("[CHAT] a turn calls at most 25 tools, in at most 8 steps", async () => {
    const many = (call: ModelCall) => {
      for (let index = 0; index < 5; index += 1) call.callTool("weather", { city: `${index}` });
      call.finish();
    };
    const { requests, events, turn } = await run(
      "many",
      Array.from({ length: 20 }, () => many),
    );
    expect(requests.map(({ tools }) => tools.length > 0)).toEqual([...Array(7).fill(true), false]);
    expect(kindsOf(events).filter((kind) => kind === "toolStart")).toHaveLength(25);
    const { rows } = await rig.pool.query(
      "select count(*) from chat.tool_call where turn = $1 and result like '%may call 25 tools at most%'",
      [turn.id],
    );
    expect(rows).toEqual([{ count: 10 }]);
  });

  it("[CHAT] a workspace that has used its tokens of the day gets BUDGET_EXCEEDED, and no model is asked", async () => {
    const { workspaceId } = rig.request("", "");
    const setBudget = (tokens: number) =>
      rig.pool.query("update chat.settings set tokens_per_day = $2 where workspace_id = $1", [workspaceId, tokens]);
    const used = async () =>
      (await rig.pool.query("select sum(input_tokens + output_tokens)::bigint as n from chat.usage")).rows[0].n;
    const before = await used();
    await run("budget", [use("weather", { city: "Rome" }), say("Fine.")]);
    expect(await used()).toBe(before + 30);
    await setBudget(before + 30);
    const refused = await run("budget-2", [say("Never.")]);
    expect(refused.requests).toHaveLength(0);
    expect(kindsOf(refused.events)).toEqual(["user", "error", "done"]);
    expect(refused.events[1]?.event.value).toMatchObject({ code: "BUDGET_EXCEEDED" });
    // The first step uses up the rest, so there is no second one.
    await setBudget(before + 31);
    const cut = await run("budget-3", [use("weather", { city: "Rome" }), say("Never.")]);
    expect(cut.requests).toHaveLength(1);
    expect(kindsOf(cut.events).slice(-2)).toEqual(["error", "done"]);
    await setBudget(0);
  });
});
