import { isUtf8 } from "node:buffer";
import { parseForm } from "./form.ts";

export type JsonObject = Record<string, unknown>;

/** `isForm`: all values are strings, although the target may need numbers or booleans. */
export type ParsedBody = { ok: true; value: JsonObject; isForm: boolean } | { ok: false };

const MAX_LEVELS = 64;
const BYTE_ORDER_MARK = 0xfeff;
const FORM_TYPE = "application/x-www-form-urlencoded";

/**
 * [IN-19] [IN-20] [IN-25] The JSON object in a body. Only the form type is not read as JSON; an encoded body is not
 * decoded. If a member occurs twice, the last one counts. Never throws.
 */
export function parseBody(bytes: Uint8Array, contentType: string, contentEncoding: string): ParsedBody {
  if (!/^(?:identity)?$/i.test(contentEncoding) || !isUtf8(bytes)) return { ok: false };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) return { ok: false };
  if (mediaTypeOf(contentType) === FORM_TYPE) {
    const form = parseForm(bytes);
    return form ? { ok: true, value: form, isForm: true } : { ok: false };
  }
  const value = parseJson(text);
  return isJsonObject(value) && !isDeeperThan(value, MAX_LEVELS) ? { ok: true, value, isForm: false } : { ok: false };
}

function mediaTypeOf(contentType: string): string {
  return contentType.split(";", 1).join("").trim().toLowerCase();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
