import { Code } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatRig, expectDense, kindsOf, startChatRig, streamedText } from "../chat-rig.ts";
import { clientsOf } from "../management/clients.ts";
import { say } from "../scripted-model.ts";

describe("stopping and resetting", () => {
  let rig: ChatRig;
  beforeAll(async () => {
    rig = await startChatRig();
    await rig.tools.saveTool("slow", {
      handler: "export default (args, ctx) => ctx.fetch(args.url);",
      parameters: { type: "object", properties: { url: { type: "string" } } },
    });
    await rig.saveAssistant("agent", { tools: ["slow"] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  beforeEach(() => rig.model.answer(undefined));

  const nextCall = () => rig.model.call(rig.model.calls.length);
  const untilText = (chat: number, text: string) =>
    eventually(async () => expect(streamedText(await rig.events(chat))).toBe(text));

  it("[CHAT] stop closes the model's stream before it responds, and keeps the partial answer", async () => {
    const calling = nextCall();
    const turn = await rig.send("stopped", "Hi");
    const call = await calling;
    call.text("<p>One, <b>two");
    await untilText(turn.chat, "<p>One, <b>two");
    expect(await rig.turns.stop(rig.request("stopped", ""))).toBe(true);
    expect(call.closed).toBe(true);
    expect(await rig.status(turn)).toBe("stopped");
    const events = await rig.events(turn.chat);
    expectDense(events);
    expect(streamedText(events)).toBe("<p>One, <b>two</b></p>");
    expect(events.at(-1)?.event).toMatchObject({ case: "done", value: { receipt: { stopped: true } } });
    expect((await rig.history(turn.chat)).at(-1)?.content).toBe("<p>One, <b>two</b></p>");
    expect(await rig.turns.stop(rig.request("stopped", ""))).toBe(false);
    expect(await rig.turns.stop(rig.request("never-used", ""))).toBe(false);
  });

  it("[CHAT] stop does not wait for a tool, whose outcome is then unknown; the next turn starts", async () => {
    const calling = nextCall();
    rig.tools.receiver.behave(() => ({ hang: "before-status" }));
    const turn = await rig.send("stopped-tool", "Hi", { assistant: "agent" });
    const next = await rig.send("stopped-tool", "And then?", { assistant: "agent" });
    const call = await calling;
    call.callTool("slow", { url: `${rig.tools.receiver.url}/slow` });
    call.finish();
    await eventually(async () => expect(kindsOf(await rig.events(turn.chat))).toContain("toolStart"));
    const following = nextCall();
    expect(await rig.turns.stop(rig.request("stopped-tool", ""))).toBe(true);
    const { rows } = await rig.pool.query("select status from chat.tool_call where turn = $1", [turn.id]);
    expect(rows).toEqual([{ status: "unknown" }]);
    (await following).say("Fine.");
    await rig.untilDone(next);
    const events = await rig.events(turn.chat);
    expectDense(events);
    expect(kindsOf(events)).toEqual(["user", "toolStart", "toolComplete", "done", "user", "assistant", "done"]);
    rig.tools.receiver.behave(() => ({}));
  });

  it("[CHAT] an unclaimed turn is stopped without a worker; a stop without effect within 10 s is an error", async () => {
    await using idle = await startChatRig({ instances: [["api"]] });
    const lost = await idle.send("lost-worker", "Hi");
    await idle.pool.query("update chat.turn set status = 'running' where id = $1", [lost.id]);
    const late = expect(idle.turns.stop(idle.request("lost-worker", ""))).rejects.toMatchObject({
      code: Code.DeadlineExceeded,
    });
    const turn = await idle.send("unclaimed", "Hi");
    const next = await idle.send("unclaimed", "And?");
    expect(await idle.turns.stop(idle.request("unclaimed", ""))).toBe(true);
    expect([await idle.status(turn), await idle.status(next)]).toEqual(["stopped", "ready"]);
    await late;
    idle.model.answer(say("Fine."));
    await idle.start(["worker"]);
    await idle.untilDone(next);
    const events = await idle.events(turn.chat);
    expectDense(events);
    expect(kindsOf(events)).toEqual(["user", "done", "user", "assistant", "done"]);
    expect(events[1]?.event).toMatchObject({ case: "done", value: { receipt: { stopped: true } } });
    expect(idle.model.calls).toHaveLength(1);
  });

  it("[CHAT-31] [CHAT-32] reset clears the history and keeps the id usable; event ids continue", async () => {
    rig.model.answer(say("Hello."));
    const turn = await rig.send("reset", "secret words", { clientMessageId: "m-1" });
    await rig.untilDone(turn);
    await rig.turns.reset(rig.request("reset", ""));
    await rig.turns.reset(rig.request("never-used", ""));
    expect(await rig.history(turn.chat)).toEqual([]);
    expect(await rig.events(turn.chat)).toEqual([]);
    const { rows } = await rig.pool.query("select message from chat.turn where chat = $1", [turn.chat]);
    expect(rows).toEqual([{ message: "" }]);
    const again = await rig.send("reset", "Hi");
    expect(again.firstEventId).toBe(4);
    await rig.untilDone(again);
    expectDense(await rig.events(turn.chat), 4);
    expect(rig.model.calls.at(-1)?.request.messages).toMatchObject([{ role: "user", text: "Hi" }]);
  });

  it("[CHAT] [CHAT-13] [CHAT-32] reset ends the running turn and those that wait, and stores no answer: senders get an error", async () => {
    const { chats } = clientsOf(rig);
    const calling = nextCall();
    const answers = ["Hi", "And?"].map((message) => chats.sendMessage({ chatId: "reset-running", message }));
    const call = await calling;
    const row = await eventually(async () => {
      const { rows } = await rig.pool.query(
        `select c.id, count(*)::int as turns from chat.chat c join chat.turn t on t.chat = c.id
         where chat_id = 'reset-running' group by 1`,
      );
      return rows[0]?.turns === 2 && rows[0];
    });
    call.text("Half an ans");
    await untilText(row.id, "Half an ans");
    const own = { owner: "manager", userId: "manager" };
    await rig.turns.reset(rig.request("reset-running", "", own));
    await eventually(() => expect(call.closed).toBe(true));
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ reply: "", error: { code: "CHAT_RESET" } });
    const events = await rig.events(row.id);
    expect(kindsOf(events)).toEqual(["done"]);
    expect(events[0]?.id).toBe(3n);
    const following = nextCall();
    const next = await rig.send("reset-running", "Again", own);
    (await following).say("Whole.");
    await rig.untilDone(next);
    expectDense(await rig.events(row.id), 3);
    expect((await rig.history(row.id)).map(({ content }) => content)).toEqual(["Again", "Whole."]);
  });

  it("[CHAT] a turn that waits over 30 s for those before it is refused, and its message may be sent again", async () => {
    const calling = nextCall();
    const turn = await rig.send("busy", "Hi");
    const late = await rig.send("busy", "And?", { clientMessageId: "m-2" });
    const call = await calling;
    await rig.pool.query("update chat.turn set created_at = created_at - interval '31 s' where id = $1", [late.id]);
    await eventually(async () => expect(await rig.status(late)).toBe("refused"));
    expect(await rig.status(turn)).toBe("running");
    const again = await rig.send("busy", "And?", { clientMessageId: "m-2" });
    expect(again.id).not.toBe(late.id);
    const following = nextCall();
    call.say("One.");
    (await following).say("Two.");
    await rig.untilDone(again);
    expect((await rig.history(turn.chat)).map(({ content }) => content)).toEqual(["Hi", "One.", "And?", "Two."]);
  });

  it("[CHAT] a chat has a limited number of waiting turns", async () => {
    const calling = nextCall();
    await rig.send("full", "0");
    for (let index = 1; index <= 20; index += 1) await rig.send("full", `${index}`);
    expect(await rig.turns.start(rig.request("full", "21"))).toEqual({ kind: "busy" });
    await calling;
    await rig.turns.reset(rig.request("full", ""));
  });
});
