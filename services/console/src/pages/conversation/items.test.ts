import type { ChatEvent } from "@toolgate/chat-client/events";
import { expect, test } from "vitest";
import { type Item, NOTHING, withEvent, withMessage } from "./items.ts";

function shown(...events: ChatEvent[]): readonly Item[] {
  return events.reduce((before, event) => withEvent(before, event, { isLive: true }), withMessage(NOTHING, "Hi", []))
    .items;
}

const text = (id: number, content: string): ChatEvent => ({
  id,
  event: "message",
  data: { role: "assistant", content },
});

test("[CHAT-36] the parts of an answer are one message, and what follows a tool is another", () => {
  const items = shown(
    text(2, "<p>Let me"),
    text(3, " see</p>"),
    { id: 4, event: "tool_start", data: { id: "c1", tool: "greet" } },
    { id: 5, event: "tool_complete", data: { id: "c1", tool: "greet", success: true, duration_ms: 7 } },
    text(6, "Hello"),
    { id: 7, event: "done", data: { resumed: false } },
  );
  expect(items).toMatchObject([
    { role: "user", content: "Hi" },
    { role: "assistant", content: "<p>Let me see</p>", isStreaming: false },
    { kind: "tool", id: "c1", state: "succeeded", durationMs: 7 },
    { role: "assistant", content: "Hello", isStreaming: false },
  ]);
  expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
});

test("[CHAT-40] [CHAT-41] an answer that fails keeps what it has, and says what went wrong", () => {
  const error = { code: "MODEL_FAILED", message: "The model did not answer." };
  expect(shown(text(2, "Half"), { id: 3, event: "error", data: { error } }).slice(1)).toMatchObject([
    { content: "Half", isStreaming: false },
    { kind: "error", text: "The model did not answer." },
  ]);
});
