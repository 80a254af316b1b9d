import { RELEASE_FLAGS } from "../../domain/assistants/builder-tools.ts";
import { escapeHtml } from "../../html/escape.ts";
import type { ModelRequest, ToolResult } from "../model.ts";
import type { Reply } from "./reply.ts";

const NAME = "[\"'`]?([\\w-]+)[\"'`]?";
const please = (rest: string) => new RegExp(`^(?:please\\s+)?${rest}\\s*[.!]?$`, "i");
const YES = /^\W*(?:yes|ja)\W*$/i;
const LIST = please("(?:list|show)(?:\\s+me)?\\s+(?:all\\s+)?(?:the\\s+)?tools");
const SHOW = please(`show(?:\\s+me)?\\s+(?:the\\s+)?(?:tool\\s+)?${NAME}`);
const RELEASE = please(
  `release\\s+(?:the\\s+)?(?:tool\\s+)?${NAME}(?:\\s+for\\s+((?:api\\s+)?keys|hooks|everyone))?(\\s+with\\s+writing)?`,
);
const CLOSE = please(`close\\s+(?:the\\s+)?(?:tool\\s+)?${NAME}`);
const CHANGE = /^(?:please\s+)?change\s+(?:the\s+)?(?:tool\s+)?["'`]?([\w-]+)["'`]?\s+to\s+(\{[\s\S]+\})\s*$/i;

type Call = { name: string; args: object };

/** The script of the builder assistant where no language model is connected. */
export function builderReply({ messages }: ModelRequest): Reply {
  const last = messages.at(-1);
  if (last?.role === "tool") return { kind: "text", html: last.results.map(resultText).join("") };
  const call = callFor(last?.role === "user" ? last.text.trim() : "");
  if (!call) return { kind: "text", html: HELP };
  return {
    kind: "tool_call",
    call: { id: `call_${messages.length}`, name: call.name, args: JSON.stringify(call.args) },
  };
}

const EXAMPLES = [
  ["List the tools", ""],
  ["Show orders", ""],
  ["Release orders", "for API keys; also: for hooks, for everyone, with writing"],
  ["Close orders", "for all callers outside"],
  ['Change orders to {"description": "…"}', "members of its definition; null removes one"],
] as const;

const HELP = `<p>No language model is connected here, so I understand only these requests:</p><ul>${EXAMPLES.map(
  ([example, meaning]) => `<li><code>${escapeHtml(example)}</code>${meaning && `: ${meaning}`}</li>`,
).join("")}</ul>`;

function callFor(text: string): Call | undefined {
  if (YES.test(text)) return { name: "last_proposal", args: {} };
  if (LIST.test(text)) return { name: "list_tools", args: {} };
  const [, shown] = SHOW.exec(text) ?? [];
  if (shown !== undefined) return { name: "get_tool", args: { tool: shown } };
  const [, released, callers = "keys", writing] = RELEASE.exec(text) ?? [];
  if (released !== undefined) return release(released, callers.toLowerCase(), writing !== undefined);
  const [, closed] = CLOSE.exec(text) ?? [];
  if (closed !== undefined) return { name: "propose_release", args: { tool: closed, flags: NOBODY } };
  const [, changed, json = ""] = CHANGE.exec(text) ?? [];
  return changed === undefined ? undefined : change(changed, json);
}

const NOBODY = Object.fromEntries(RELEASE_FLAGS.map((flag) => [flag, false]));

function release(tool: string, callers: string, writing: boolean): Call {
  const flag = callers === "everyone" ? "public_api" : callers === "hooks" ? "inbound_hook" : "external_api";
  const flags = { [flag]: true, ...(writing && flag !== "public_api" && { [`${flag}_write`]: true }) };
  return { name: "propose_release", args: { tool, flags } };
}

function change(tool: string, json: string): Call | undefined {
  try {
    return { name: "propose_change", args: { tool, changes: JSON.parse(json) } };
  } catch {
    return undefined;
  }
}

function resultText({ name, output, failed }: ToolResult): string {
  if (failed) return `<p>That is not possible: ${escapeHtml(output)}</p>`;
  if (name === "list_tools") return listText(JSON.parse(output));
  if (name === "get_tool") return `<pre>${escapeHtml(output)}</pre>`;
  if (name === "last_proposal") return stateText(JSON.parse(output));
  return "<p>I have proposed it. Check the card, and answer its question.</p>";
}

function listText(tools: { name: string; description: string }[]): string {
  if (tools.length === 0) return "<p>This workspace has no tools.</p>";
  const items = tools.map(
    ({ name, description }) => `<li><code>${escapeHtml(name)}</code>: ${escapeHtml(description)}</li>`,
  );
  return `<ul>${items.join("")}</ul>`;
}

function stateText({ tool = "", state, version }: { tool?: string; state: string; version?: number }): string {
  const name = `<code>${escapeHtml(tool)}</code>`;
  if (state === "none") return "<p>There is no proposal in this chat.</p>";
  if (state === "confirmed") return `<p>Version ${version} of ${name} is saved.</p>`;
  return `<p>${name} was not changed. The proposal is ${escapeHtml(state)}.</p>`;
}
