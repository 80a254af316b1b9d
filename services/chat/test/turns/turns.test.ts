import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import type { TurnRef } from "../../src/store/turns/start.ts";
import { type ChatRig, expectDense, kindsOf, startChatRig, started, streamedText } from "../chat-rig.ts";
import { say } from "../scripted-model.ts";

describe("turns", () => {
  let rig: ChatRig;
  beforeAll(async () => {
    rig = await startChatRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it("[CHAT-14] [CHAT-36] [CHAT-42] a turn streams its answer, and history has the same text", async () => {
    rig.model.answer((call) => {
      for (const word of ["<p>Hello", " <script>alert(1)</script>", "<b>world</b>", "!"]) call.text(word);
      call.finish();
    });
    const turn = await rig.send("first", "Hi");
    const { receipt } = await rig.untilDone(turn);
    expect(receipt).toMatchObject({ model: "scripted", inputTokens: 10, outputTokens: 5, stopped: false });
    const events = await rig.events(turn.chat);
    expectDense(events);
    expect(events.at(0)?.event.value).toMatchObject({ role: "user", content: "Hi" });
    expect(events.at(-1)?.event.case).toBe("done");
    const text = streamedText(events);
    expect(text).toBe("<p>Hello &lt;script&gt;alert(1)&lt;/script&gt;<b>world</b>!</p>");
    const history = await rig.history(turn.chat);
    expect(history.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Hi"],
      ["assistant", text],
    ]);
    expect(await rig.status(turn)).toBe("completed");
  });

  it("[CHAT] the same client message starts one turn, also when it is sent many times simultaneously", async () => {
    rig.model.answer(say("Once."));
    const request = rig.request("twice", "Hi", { clientMessageId: "m-1" });
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => rig.turns.start(request)));
    expect(new Set(outcomes.map((outcome) => started(outcome).id)).size).toBe(1);
    expect(outcomes.filter(({ kind }) => kind === "started")).toHaveLength(1);
    const [turn] = outcomes.map(started);
    if (turn) await rig.untilDone(turn);
    const again = await rig.turns.start(request);
    expect(again).toMatchObject({ kind: "joined", turn: { id: turn?.id, status: "completed", firstEventId: 1 } });
    expect(kindsOf(await rig.events(again.kind === "joined" ? again.turn.chat : 0))).toEqual([
      "user",
      "assistant",
      "done",
    ]);
  });

  it("[CHAT] turns of one chat run one after the other, in order of arrival, and never mix", async () => {
    rig.model.answer(undefined);
    const from = rig.model.calls.length;
    const turns: TurnRef[] = [];
    for (const text of ["one", "two", "three"]) turns.push(await rig.send("queue", text));
    expect(turns.map(({ firstEventId }) => firstEventId)).toEqual([1, 0, 0]);
    for (const [index, text] of ["one", "two", "three"].entries()) {
      const call = await rig.model.call(from + index);
      expect(call.request.messages.at(-1)).toMatchObject({ role: "user", text });
      expect(rig.model.calls).toHaveLength(from + index + 1);
      call.say(`Answer to ${text}.`);
    }
    for (const turn of turns) await rig.untilDone(turn);
    const chat = turns[0]?.chat ?? 0;
    const events = await rig.events(chat);
    expectDense(events);
    expect(kindsOf(events).join()).toBe("user,assistant,done,user,assistant,done,user,assistant,done");
    expect((await rig.history(chat)).map(({ content }) => content)).toEqual([
      "one",
      "Answer to one.",
      "two",
      "Answer to two.",
      "three",
      "Answer to three.",
    ]);
  });

  it("[CHAT] a chat belongs to the user who created it", async () => {
    rig.model.answer(say("Mine."));
    const turn = await rig.send("owned", "Hi");
    await rig.untilDone(turn);
    const other = rig.request("owned", "Hi", { owner: "somebody-else", userId: "somebody-else" });
    expect(await rig.turns.start(other)).toEqual({ kind: "forbidden" });
    for (const refused of [rig.turns.reset, rig.turns.stop, rig.turns.find])
      await expect(refused(other)).rejects.toMatchObject({ code: Code.PermissionDenied });
    expect(await rig.history(turn.chat)).toHaveLength(2);
  });

  it("[CHAT] an assistant that does not exist or was deleted starts nothing", async () => {
    expect(await rig.turns.start(rig.request("none", "Hi", { assistant: "nobody" }))).toEqual({ kind: "no-assistant" });
    await rig.saveAssistant("gone");
    await rig.pool.query("update chat.assistant set deleted = true where name = 'gone'");
    expect(await rig.turns.start(rig.request("none", "Hi", { assistant: "gone" }))).toEqual({ kind: "no-assistant" });
  });

  it("[CHAT-55] the model sees the last 50 messages, the new one included", async () => {
    rig.model.answer(say("ok"));
    const first = await rig.send("long", "The first");
    await rig.untilDone(first);
    await rig.pool.query("update chat.chat set last_event_id = 100 where id = $1", [first.chat]);
    await rig.pool.query(
      `insert into chat.message (chat, event_id, turn, role, content, created_at)
       select $1, n, gen_random_uuid(), 'user', 'message ' || n, now() from generate_series(41, 100) n`,
      [first.chat],
    );
    await rig.untilDone(await rig.send("long", "The last"));
    const { messages } = rig.model.calls.at(-1)?.request ?? { messages: [] };
    expect(messages).toHaveLength(50);
    expect(messages.at(-1)).toMatchObject({ role: "user", text: "The last" });
    expect(messages.at(0)).toMatchObject({ role: "user", text: "message 52" });
  });

  it("[CHAT-39] suggestions come in one event before done, and only after an answer", async () => {
    await rig.saveAssistant("suggesting", { suggestions: ["More", "Less"] });
    rig.model.answer(say("ok"));
    const turn = await rig.send("suggest", "Hi", { assistant: "suggesting" });
    await rig.untilDone(turn);
    const events = await rig.events(turn.chat);
    expect(kindsOf(events)).toEqual(["user", "assistant", "suggestions", "done"]);
    expect(events.at(-2)?.event.value).toMatchObject({ items: ["More", "Less"] });
    rig.model.answer((call) => {
      call.text("Half of it");
      call.fail(new ModelError("cut", "the connection closed", { beforeOutput: false }));
    });
    const failed = await rig.send("suggest after a failure", "Hi", { assistant: "suggesting" });
    await rig.untilDone(failed);
    expect(kindsOf(await rig.events(failed.chat))).toEqual(["user", "assistant", "error", "done"]);
  });

  it("[CHAT] an answer is cut at 200,000 characters before it is stored, in events of a limited size", async () => {
    rig.model.answer((call) => {
      call.text(`<b>${"\u{1f600}&".repeat(150_000)}`);
      call.say("never");
    });
    const turn = await rig.send("long-answer", "Hi");
    const { receipt } = await rig.untilDone(turn);
    const events = await rig.events(turn.chat);
    const text = streamedText(events);
    expect(text.length).toBeGreaterThan(199_000);
    expect(text.length).toBeLessThan(200_050);
    expect(text.endsWith("</b>") && text.isWellFormed()).toBe(true);
    for (const { event } of events)
      if (event.case === "message") expect(event.value.content.length).toBeLessThan(12_000);
    expect((await rig.history(turn.chat)).at(-1)?.content).toBe(text);
    expect(receipt?.outputTokens).toBeGreaterThan(0);
  });
});
