import type { ModelTool } from "../model.ts";

type FoundCall = { name: string; args: string };

/** As much of a tool's JSON schema as is looked at. */
type Parameters = { required?: string[]; properties?: Record<string, { type?: unknown }> };

const RUN =
  /^(?:please\s+)?(?:run|call|use)\s+(?:the\s+)?(?:tool\s+)?["'`]?([\w.-]+)["'`]?(?:\s+tool)?(?:\s+(?:with|for)\s+([\s\S]+))?$/i;
/** How much of a message is read as a phrase. */
const MAX_PHRASE_CHARS = 300;
/** Where a question names its subject: "city report for Berlin", "greet: Ada". */
const SUBJECT = /(?:\b(?:in|for|of|about|to|with)\s|:)\s*([^?!]{1,200}?)[\s?!.]*$/i;

/**
 * The call that a message asks for: "run <tool> with {json}", or a message that names a tool. Without JSON, the tool needs at
 * most one argument, and that one is text.
 */
export function findCall(text: string, tools: readonly ModelTool[]): FoundCall | undefined {
  const [, named, given] = RUN.exec(text) ?? [];
  const asked = tools.find(({ name }) => name.toLowerCase() === named?.toLowerCase());
  if (asked !== undefined) return callWith(asked, given?.trim() ?? "");
  const phrase = text.slice(0, MAX_PHRASE_CHARS);
  const words = wordsOf(phrase);
  const mentioned = tools.find(({ name }) => containsName(words, name));
  if (mentioned === undefined) return undefined;
  const [, subject] = SUBJECT.exec(phrase) ?? [];
  return callWith(mentioned, jsonIn(text) ?? subject ?? afterName(phrase, mentioned.name) ?? "");
}

function callWith({ name, parameters }: ModelTool, given: string): FoundCall | undefined {
  if (isJsonObject(given)) return { name, args: given };
  const { required = [], properties = {} } = parameters as Parameters;
  const [only] = required;
  if (only === undefined) return given === "" ? { name, args: "{}" } : undefined;
  if (required.length > 1 || given === "" || properties[only]?.type !== "string") return undefined;
  return { name, args: JSON.stringify({ [only]: given.replace(/^(["'`])(.*)\1$/, "$2") }) };
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
