import { isUtf8 } from "node:buffer";
import { isDeeperThan, isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { parseForm } from "./form.ts";

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
