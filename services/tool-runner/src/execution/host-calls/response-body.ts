import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { hasInexactNumber } from "@toolgate/rules/json-numbers";
import { isDeeperThan } from "@toolgate/rules/json-object";
import { ToolError } from "../errors.ts";

const MAX_LEVELS = 64;
const UNPACK = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;
const UTF_16_MARKS = new Map([
  ["fffe", "utf-16le"],
  ["feff", "utf-16be"],
]);

type Headers = Record<string, string | string[]>;

/** The bytes of a response without the compression that nobody asked for. Rejects with a ToolError. */
export async function unpacked(headers: Headers, body: Buffer, maxBytes: number): Promise<Buffer> {
  const encodings = headerOf(headers, "content-encoding")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  let bytes = body;
  for (const name of encodings.filter((one) => one !== "" && one !== "identity").toReversed()) {
    const unpack = UNPACK[name as keyof typeof UNPACK];
    if (!unpack) throw new ToolError("CALL_FAILED", "the response has an unknown content-encoding");
    bytes = await unpack(bytes, { maxOutputLength: maxBytes }).catch(() => {
      throw new ToolError("CALL_FAILED", `the response cannot be unpacked to at most ${maxBytes} bytes`);
    });
  }
  return bytes;
}

/** What a tool gets of a response: JSON as its value, anything else as text; bytes that are no text as base64 too. */
export function bodyOf(headers: Headers, bytes: Buffer): { body: unknown; base64?: string } {
  const type = headerOf(headers, "content-type");
  const { text, isLossy } = decoded(bytes, /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1]);
  return {
    body: /\bjson\b/i.test(type) ? jsonOf(text) : text,
    ...(isLossy && { base64: bytes.toString("base64") }),
  };
}

/** A byte order mark wins over the charset, and is no part of the text. */
function decoded(bytes: Buffer, charset = "utf-8"): { text: string; isLossy: boolean } {
  const label = UTF_16_MARKS.get(bytes.toString("hex", 0, 2)) ?? charset;
  try {
    return { text: new TextDecoder(label, { fatal: true }).decode(bytes), isLossy: false };
  } catch {
    // It is no such text, or the charset is unknown.
    return { text: new TextDecoder().decode(bytes), isLossy: true };
  }
}

function jsonOf(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  if (isDeeperThan(value, MAX_LEVELS)) {
    throw new ToolError("CALL_FAILED", `the response is nested more than ${MAX_LEVELS} levels deep`);
  }
  // Tools get such a number only as the text that was sent.
  return hasInexactNumber(text) ? text : value;
}

function headerOf(headers: Headers, name: string): string {
  return [headers[name] ?? ""].flat().join(", ");
}
