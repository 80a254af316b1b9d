/** What a model server of a test answers. */
export type Script = {
  text?: string;
  toolCalls?: readonly { id: string; name: string; args: string }[];
  usage?: { inputTokens: number; outputTokens: number };
  /** Each token of the text waits for this; tokens count from 0, also those of an earlier, interrupted answer. */
  before?: (token: number) => Promise<unknown>;
  /** Characters of each fragment of tool arguments. Default: 4. */
  fragmentChars?: number;
  fault?: Fault;
};

/**
 * `status`: an HTTP error instead of an answer. The others happen after some tokens: an error event, an event that is not
 * JSON, a reset connection, an end without the last events, silence. `no-headers`: silence from the beginning.
 */
export type Fault =
  | { kind: "status"; status: number; headers?: Record<string, string>; body?: string }
  | { kind: "no-headers" }
  | { kind: "error"; afterTokens: number; type: string; staysOpen?: boolean }
  | { kind: "malformed" | "cut" | "end" | "stall"; afterTokens: number }
  | { kind: "raw"; afterTokens: number; bytes: string };

/** One request that a model server got. */
export type RecordedRequest = {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: { model: string; messages: readonly RecordedMessage[]; [key: string]: unknown };
};

export type RecordedMessage = { role: string; content?: unknown; [key: string]: unknown };

/** A wire format: how an API writes the parts of an answer. Each string is one or more whole events. */
export type Wire = {
  path: string;
  begin(request: RecordedRequest): string;
  token(text: string): string;
  toolCalls(calls: NonNullable<Script["toolCalls"]>, fragmentChars: number): string[];
  error(type: string): string;
  end(script: Script, outputTokens: number): string;
};

/** Words with the space before them. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
}

/** What remains of a text when the request asks to continue after a part of it. */
export function remainder(text: string, messages: readonly RecordedMessage[]): string {
  const [before, last] = messages.slice(-2);
  if (before?.role !== "assistant" || !plain(last?.content).startsWith("Your answer was interrupted")) return text;
  const partial = plain(before.content);
  return text.startsWith(partial) ? text.slice(partial.length) : text;
}

/** The text of a message, whose content is a string or a list of parts. */
export function plain(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("");
}

export function fragments(text: string, chars: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += chars) parts.push(text.slice(at, at + chars));
  return parts;
}
