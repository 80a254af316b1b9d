import type { ModelFile, ModelMessage, ToolResult } from "../models/model.ts";
import type { CallRecord, Step } from "./turn.ts";

interface Conversation {
  /** Oldest first; the last one is the one to answer. */
  messages: readonly { role: "user" | "assistant"; content: string }[];
  /** The files of the last message. */
  files: readonly ModelFile[];
  /** The finished steps of this turn. */
  steps: readonly Step[];
  /** By id. Every call of the steps has a result. */
  calls: ReadonlyMap<string, CallRecord>;
}

/** [CHAT-55] What the model sees: the chat's messages, then what it has done in this turn so far. */
export function conversationOf({ messages, files, steps, calls }: Conversation): ModelMessage[] {
  const conversation = messages.map(({ role, content }): ModelMessage => ({ role, text: content }));
  const last = conversation.at(-1);
  if (last?.role === "user" && files.length > 0) last.files = files;
  for (const step of steps) {
    const toolCalls = step.calls.map(({ id, tool, args }) => ({ id, name: tool, args }));
    conversation.push({ role: "assistant", text: step.html, toolCalls });
    const results = step.calls.map((call) => resultOf(calls.get(call.id), call));
    conversation.push({ role: "tool", results });
  }
  return conversation;
}

function resultOf(call: CallRecord | undefined, { id, tool }: { id: string; tool: string }): ToolResult {
  return { id, name: tool, output: call?.result ?? "", failed: call?.status !== "succeeded" };
}
