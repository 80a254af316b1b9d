import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TurnRef } from "../../src/store/turns/start.ts";
import { type ChatRig, expectDense, kindsOf, startChatRig, streamedText } from "../chat-rig.ts";

/** Each lost worker here is still alive, and tries to continue: what it writes must change nothing. */
describe("a turn that is taken over", () => {
  let rig: ChatRig;
  beforeAll(async () => {
    rig = await startChatRig({ instances: [["worker"], ["worker"]] });
    const parameters = { type: "object", properties: { url: { type: "string" } } };
    await rig.tools.saveTool("visit", { handler: "export default (args, ctx) => ctx.fetch(args.url);", parameters });
    await rig.saveAssistant("agent", { tools: ["visit"] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  beforeEach(() => rig.model.answer(undefined));

  const nextCall = () => rig.model.call(rig.model.calls.length);
  const untilText = (turn: TurnRef, text: string) =>
    eventually(async () => expect(streamedText(await rig.events(turn.chat))).toBe(text));
  /** As if the worker had not renewed its lease in time. */
  const loseWorker = (turn: TurnRef) =>
    rig.pool.query(
      `update chat.turn set lease_token = gen_random_uuid(), lease_until = now() - interval '1 minute' where id = $1`,
      [turn.id],
    );
  const visits = (path: string) => rig.tools.receiver.requests.filter((request) => request.path === path).length;

  it("[CHAT] continues after what was streamed, open tags included; the lost worker writes nothing more", async () => {
    const first = nextCall();
    const turn = await rig.send("text", "Hi");
    const lost = await first;
    lost.text("<p>One, <b>two");
    await untilText(turn, "<p>One, <b>two");
    const second = nextCall();
    await loseWorker(turn);
    const call = await second;
    expect(call.request.partial).toBe("<p>One, <b>two");
    lost.say("STALE");
    call.say("</b>, three");
    await rig.untilDone(turn);
    await eventually(() => expect(lost.closed).toBe(true));
    const events = await rig.events(turn.chat);
    expectDense(events);
    expect(streamedText(events)).toBe("<p>One, <b>two</b>, three</p>");
    expect(kindsOf(events).filter((kind) => kind === "done")).toHaveLength(1);
    expect((await rig.history(turn.chat)).at(-1)?.content).toBe("<p>One, <b>two</b>, three</p>");
  });

  it("[CHAT] a tool that has finished is not run again, and the model gets its result", async () => {
    const first = nextCall();
    const turn = await rig.send("finished", "Hi", { assistant: "agent" });
    const call = await first;
    const second = nextCall();
    call.text("Wait.");
    call.callTool("visit", { url: `${rig.tools.receiver.url}/finished` });
    call.finish();
    const lost = await second;
    const third = nextCall();
    await loseWorker(turn);
    const again = await third;
    expect(again.request.messages).toEqual(lost.request.messages);
    expect(again.request.partial).toBeUndefined();
    expect(again.request.messages.at(-1)).toMatchObject({ role: "tool", results: [{ failed: false }] });
    again.say("Done.");
    const { receipt } = await rig.untilDone(turn);
    expect(visits("/finished")).toBe(1);
    expect(receipt).toMatchObject({ inputTokens: 20, tools: [{ tool: "visit", success: true }] });
    const events = await rig.events(turn.chat);
    expectDense(events);
    expect(kindsOf(events).join()).toBe("user,assistant,toolStart,toolComplete,assistant,done");
    expect(streamedText(events)).toBe("Wait.\nDone.");
  });

  it("[CHAT] a tool that has started is not run again: its outcome is unknown, and the model is told so", async () => {
    rig.tools.receiver.behave(() => ({ hang: "before-status" }));
    const first = nextCall();
    const turn = await rig.send("started", "Hi", { assistant: "agent" });
    const call = await first;
    const second = nextCall();
    call.callTool("visit", { url: `${rig.tools.receiver.url}/started` });
    call.finish();
    await eventually(() => expect(visits("/started")).toBe(1));
    await loseWorker(turn);
    const again = await second;
    expect(again.request.messages.at(-1)).toMatchObject({
      role: "tool",
      results: [{ failed: true, output: expect.stringContaining("may or may not have taken effect") }],
    });
    again.say("I do not know.");
    await rig.untilDone(turn);
    expect(visits("/started")).toBe(1);
    const events = await rig.events(turn.chat);
    expectDense(events);
    expect(kindsOf(events).join()).toBe("user,toolStart,toolComplete,assistant,done");
    expect(events[2]?.event.value).toMatchObject({ success: false });
    rig.tools.receiver.behave(() => ({}));
  });

  it("[CHAT] a turn that every worker loses fails in the end", async () => {
    const first = nextCall();
    const turn = await rig.send("poison", "Hi");
    (await first).text("Hello");
    await untilText(turn, "Hello");
    await rig.pool.query("update chat.turn set attempts = 5 where id = $1", [turn.id]);
    await loseWorker(turn);
    await rig.untilDone(turn);
    const events = await rig.events(turn.chat);
    expectDense(events);
    expect(kindsOf(events)).toEqual(["user", "assistant", "error", "done"]);
    expect(events[2]?.event.value).toMatchObject({ code: "INTERNAL" });
  });

  it("[CHAT] a worker that is stopping lets its tools finish, then another one continues immediately", async () => {
    await Promise.all(rig.services.map((service) => service.drain()));
    const leaving = await rig.start(["worker"]);
    rig.tools.receiver.behave(() => ({ delayMs: 7_000 }));
    const [first, texts] = [nextCall(), rig.model.call(rig.model.calls.length + 1)];
    const turn = await rig.send("drain-tool", "Hi", { assistant: "agent" });
    (await first).callTool("visit", { url: `${rig.tools.receiver.url}/drain` });
    (await first).finish();
    await eventually(() => expect(visits("/drain")).toBe(1));
    const streaming = await rig.send("drain-text", "Hi");
    (await texts).text("Half");
    await untilText(streaming, "Half");
    const next = rig.model.calls.length;
    await rig.start(["worker"]);
    await leaving.drain();
    for (const index of [next, next + 1]) {
      const call = await rig.model.call(index);
      call.say(call.request.partial === "Half" ? " and half." : "Done.");
    }
    await rig.untilDone(turn);
    await rig.untilDone(streaming);
    expect(visits("/drain")).toBe(1);
    expect(streamedText(await rig.events(streaming.chat))).toBe("Half and half.");
    const { rows } = await rig.pool.query(
      "select t.attempts, k.status from chat.turn t join chat.tool_call k on k.turn = t.id where t.id = $1",
      [turn.id],
    );
    expect(rows).toEqual([{ attempts: 1, status: "succeeded" }]);
    rig.tools.receiver.behave(() => ({}));
  });
});
