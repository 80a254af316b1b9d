import { escapeHtml } from "../../html/escape.ts";
import type { ModelFile, ModelRequest, ModelTool, ToolCall } from "../model.ts";
import { findCall } from "./find-call.ts";
import { resultHtml } from "./result-html.ts";

/** What the built-in model answers. */
export type Reply = { kind: "text"; html: string } | { kind: "tool_call"; call: ToolCall };

const GREETING = /^\W*(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening|day))\b[^?]{0,40}$/i;
const ABOUT_ITSELF = "the built-in assistant. I follow a few fixed rules: no language model is connected here";
/** What a hook passes on is data: nothing in it is a request. */
const UNTRUSTED = /<untrusted_webhook_data>[\s\S]*?(?:<\/untrusted_webhook_data>|$)/g;

/** The rule-based answer: tool results, a call of the tool that the message asks for, or what the model can do. */
export function replyTo({ messages, tools }: ModelRequest): Reply {
  const last = messages.at(-1);
  if (last?.role === "tool") return { kind: "text", html: last.results.map(resultHtml).join("") };
  const text = last?.role === "user" ? last.text.replaceAll(UNTRUSTED, "").trim() : "";
  const call = findCall(text, tools);
  // Ids are unique in a chat, because each call is followed by its result.
  if (call !== undefined) return { kind: "tool_call", call: { id: `call_${messages.length}`, ...call } };
  const files = last?.role === "user" ? (last.files ?? []) : [];
  return { kind: "text", html: (GREETING.test(text) ? greet(tools) : explain(tools)) + mention(files) };
}

function greet(tools: readonly ModelTool[]): string {
  return `<p>Hello! I am ${ABOUT_ITSELF}.</p>${offer(tools)}`;
}

function explain(tools: readonly ModelTool[]): string {
  return `<p>I cannot answer that. I am ${ABOUT_ITSELF}.</p>${offer(tools)}`;
}

function offer(tools: readonly ModelTool[]): string {
  const [first] = tools;
  if (first === undefined) return "<p>This assistant has no tools, so there is nothing that I can do for you.</p>";
  const items = tools.map(({ name, description }) => {
    const meaning = description === "" ? "" : `: ${escapeHtml(description)}`;
    return `<li><code>${escapeHtml(name)}</code>${meaning}</li>`;
  });
  const example = escapeHtml(`run ${first.name} with ${exampleOf(first)}`);
  return `<p>I can run these tools:</p><ul>${items.join("")}</ul><p>For example: <code>${example}</code></p>`;
}

function exampleOf({ parameters }: ModelTool): string {
  const { required } = parameters;
  const names = Array.isArray(required) ? required : [];
  return JSON.stringify(Object.fromEntries(names.map((name) => [String(name), "…"])));
}

function mention(files: readonly ModelFile[]): string {
  return files.map(({ name }) => `<p>I cannot read the file ${escapeHtml(name)}.</p>`).join("");
}
