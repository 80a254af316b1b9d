import type { ModelTool } from "../model.ts";

type FoundCall = { name: string; args: string };

const RUN =
  /^(?:please\s+)?(?:run|call|use)\s+(?:the\s+)?(?:tool\s+)?["'`]?([\w.-]+)["'`]?(?:\s+tool)?(?:\s+(?:with|for)\s+([\s\S]+))?$/i;
/** How much of a message is read as a phrase. */
const MAX_PHRASE_CHARS = 300;
/** Where a question names its subject: "the weather in Berlin", "greet: Ada". */
const SUBJECT =
  /\b(?:in|for|of|about|to|with|named|called|on|at|from)\s+([^?!]{1,200}?)[\s?!.]*$|:\s*([^?!]{1,200}?)[\s?!.]*$/i;
/** Words of tools' names that do not say what a tool is about. */
const VERBS: ReadonlySet<string> = new Set([
  "get",
  "find",
  "list",
  "fetch",
  "search",
  "show",
  "lookup",
  "run",
  "look",
  "the",
]);

/**
 * The call that a message asks for: "run <tool> with {json}", a message that names a tool, or one that is about the
 * assistant's only tool. Without JSON, the tool needs at most one argument, and that one is text.
 */
export function findCall(text: string, tools: readonly ModelTool[]): FoundCall | undefined {
  const [, named, given] = RUN.exec(text) ?? [];
  const asked = tools.find(({ name }) => name.toLowerCase() === named?.toLowerCase());
  if (asked !== undefined) return callWith(asked, given?.trim() ?? "");
  const phrase = text.slice(0, MAX_PHRASE_CHARS);
  const words = wordsOf(phrase);
  const mentioned = tools.find(({ name }) => containsName(words, name)) ?? onlyFitting(words, tools);
  if (mentioned === undefined) return undefined;
  const [, afterWord, afterColon] = SUBJECT.exec(phrase) ?? [];
  return callWith(mentioned, jsonIn(text) ?? afterWord ?? afterColon ?? afterName(phrase, mentioned.name) ?? "");
}

function callWith(tool: ModelTool, given: string): FoundCall | undefined {
  if (isJsonObject(given)) return { name: tool.name, args: given };
  const required = requiredOf(tool);
  const [only] = required;
  if (only === undefined) return given === "" ? { name: tool.name, args: "{}" } : undefined;
  if (required.length > 1 || given === "" || typeOf(tool, only) !== "string") return undefined;
  return { name: tool.name, args: JSON.stringify({ [only]: given.replace(/^(["'`])(.*)\1$/, "$2") }) };
}

function onlyFitting(words: readonly string[], tools: readonly ModelTool[]): ModelTool | undefined {
  const [tool] = tools;
  if (tool === undefined || tools.length > 1) return undefined;
  return wordsOf(tool.name).some((word) => !VERBS.has(word) && words.includes(word)) ? tool : undefined;
}

/** The words of the name one after the other: "find_orders", "find-orders", "find orders". */
function containsName(words: readonly string[], name: string): boolean {
  const wanted = wordsOf(name);
  return wanted.length > 0 && words.some((_, at) => wanted.every((word, index) => words[at + index] === word));
}

/** What follows the name at the beginning of a message: "greet Ada". */
function afterName(text: string, name: string): string | undefined {
  if (!text.toLowerCase().startsWith(`${name.toLowerCase()} `)) return undefined;
  return text
    .slice(name.length)
    .replace(/[\s?!.]+$/, "")
    .trim();
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function jsonIn(text: string): string | undefined {
  const json = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  return isJsonObject(json) ? json : undefined;
}

function isJsonObject(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

function requiredOf({ parameters }: ModelTool): string[] {
  const { required } = parameters;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function typeOf({ parameters }: ModelTool, name: string): unknown {
  const { properties } = parameters;
  const schema =
    typeof properties === "object" &&
    properties !== null &&
    Object.entries(properties).find(([key]) => key === name)?.[1];
  return typeof schema === "object" && schema !== null && "type" in schema ? schema.type : undefined;
}
