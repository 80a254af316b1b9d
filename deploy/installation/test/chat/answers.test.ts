import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TopologyKind } from "../installation.ts";
import { expectDense, kindsOf, textOf } from "./client.ts";
import { type ChatFrontDoor, openChat } from "./front-door.ts";

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let door: ChatFrontDoor;
  beforeAll(async () => {
    door = await openChat(kind);
  });
  afterAll(() => door[Symbol.asyncDispose]());

  test("[CHAT-12] [CHAT-13] [CHAT-14] a message gets the whole answer as HTML, as history has it", async () => {
    const answer = await door.post("/chat/index", { chat_id: "send", message: "greet Ada" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    const { reply, receipt, ...others } = answer.body as { reply: string; receipt: Record<string, unknown> };
    // Suggestions are on the stream only.
    expect(others).toEqual({});
    expect(reply).toMatch(/^<p>.*Hello, Ada/s);
    expect(receipt).toMatchObject({ stopped: false, tools: [{ tool: "greet", success: true }], suppressed: [] });
    const history = await door.history("send");
    expect(history).toEqual([
      { role: "user", content: "greet Ada", created: expect.stringMatching(ISO) },
      { role: "assistant", content: reply, created: expect.stringMatching(ISO) },
    ]);
  });

  test("[CHAT-15] [CHAT-16] [CHAT-36] a stream delivers the answer as events with dense ids, and history has the same text", async () => {
    const stream = await door.stream({ chat_id: "stream", message: "greet Ada" });
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.headers.get("x-accel-buffering")).toBe("no");
    expect(stream.headers.get("content-encoding")).toBeNull();
    expect(stream.headers.get("cache-control")).toContain("no-store");
    const events = await stream.ended;
    expectDense(stream.ids);
    for (const { id } of events) expect(id).toMatch(/^\d+$/);
    const messages = events.filter(({ event }) => event === "message");
    expect(messages.length).toBeGreaterThan(1);
    for (const { data } of messages)
      expect(data).toEqual({ role: "assistant", content: expect.any(String), created: expect.stringMatching(ISO) });
    const history = await door.history("stream");
    expect(history.map(({ content }) => content)).toEqual(["greet Ada", textOf(events)]);
    const sent = await door.post("/chat/index", { chat_id: "stream-2", message: "greet Ada" });
    expect(sent.body.reply).toBe(textOf(events));
  });

  test("[CHAT-37] [CHAT-38] [CHAT-39] [CHAT-42] a stream names tools without arguments, suggests, and ends with done", async () => {
    const stream = await door.stream({ chat_id: "tools", message: "greet Ada" });
    const events = await stream.ended;
    const kinds = kindsOf(events);
    const others = ["sent", "tool_start", "tool_complete", "suggestions", "done"];
    expect(kinds.filter((name) => name !== "message")).toEqual(others);
    const start = events.find(({ event }) => event === "tool_start")?.data;
    expect(start).toEqual({ id: expect.any(String), tool: "greet" });
    expect(events.find(({ event }) => event === "tool_complete")?.data).toEqual({
      id: start.id,
      tool: "greet",
      success: true,
      duration_ms: expect.any(Number),
    });
    const suggestions = events.find(({ event }) => event === "suggestions")?.data;
    expect(suggestions).toEqual({ items: ["greet Ada", "run long_report"] });
    expect(events.at(-1)?.data).toMatchObject({ resumed: false, receipt: { tools: [{ tool: "greet" }] } });
  });

  test("[CHAT-53] a failed tool that the model explains is not a failed answer, and no internal message leaves", async () => {
    const events = await (await door.stream({ chat_id: "broken", message: "run broken" })).ended;
    expect(events.find(({ event }) => event === "tool_complete")?.data).toMatchObject({ success: false });
    expect(kindsOf(events)).not.toContain("error");
    expect(JSON.stringify(events)).not.toContain("internal detail");
    const sent = await door.post("/chat/index", { chat_id: "broken", message: "run broken" });
    expect({ status: sent.status, reply: typeof sent.body.reply }).toEqual({ status: 200, reply: "string" });
  });

  test("[CHAT-41] [CHAT-51] [CHAT-52] a failed turn is an error event before done, and a status in the same form", async () => {
    const { pool } = door.toolgate;
    await pool.query("update chat.settings set tokens_per_day = 1 where workspace_id = $1", [door.workspaceId]);
    try {
      await pool.query(
        `insert into chat.usage (workspace_id, day, model, input_tokens)
         select $1, (now() at time zone 'UTC')::date + days, 'x', 5 from generate_series(0, 1) days
         on conflict (workspace_id, day, model) do update set input_tokens = 5`,
        [door.workspaceId],
      );
      const events = await (await door.stream({ chat_id: "failed", message: "hello" })).ended;
      expect(kindsOf(events)).toEqual(["sent", "error", "done"]);
      const error = { error: { code: "BUDGET_EXCEEDED", message: expect.any(String) } };
      expect(events[1]?.data).toEqual(error);
      const sent = await door.post("/chat/index", { chat_id: "failed", message: "hello" });
      expect({ status: sent.status, body: sent.body }).toEqual({ status: 429, body: error });
    } finally {
      await pool.query("update chat.settings set tokens_per_day = 0 where workspace_id = $1", [door.workspaceId]);
    }
  });

  test("[CHAT] a repeated message with the same client_message_id or Idempotency-Key is one turn", async () => {
    const message = { chat_id: "once", message: "greet Ada", client_message_id: "m-1" };
    const answers = await Promise.all([1, 2, 3].map(() => door.post("/chat/index", message)));
    expect(new Set(answers.map(({ body }) => body.reply)).size).toBe(1);
    expect(await door.history("once")).toHaveLength(2);
    const again = await (await door.stream(message)).ended;
    expect(textOf(again)).toBe(answers[0]?.body.reply);
    const headers = { ...door.user.headers, "idempotency-key": "k-1" };
    await door.post("/chat/index", { chat_id: "once", message: "hello" }, headers);
    await (await door.stream({ chat_id: "once", message: "hello" }, headers)).ended;
    expect(await door.history("once")).toHaveLength(4);
  });
});
