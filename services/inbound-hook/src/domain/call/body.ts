import { isUtf8 } from "node:buffer";
import { hasInexactNumber } from "@toolgate/rules/json-numbers";
import { isDeeperThan, isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { parseForm } from "./form.ts";

/**
 * `isForm`: all values are strings, although the target may need numbers or booleans. `fault`: what the sender should change.
 */
export type ParsedBody = { ok: true; value: JsonObject; isForm: boolean } | { ok: false; fault: string };

/** One less than the arguments of a tool may have, because the body may be one of them. */
const MAX_LEVELS = 63;
const BYTE_ORDER_MARK = 0xfeff;
const FORM_TYPE = "application/x-www-form-urlencoded";

/**
 * [IN-19] [IN-20] [IN-25] The JSON object in a body. Only the form type is not read as JSON; an encoded body is not
 * decoded. If a member occurs twice, the last one counts. Never throws.
 */
export function parseBody(bytes: Uint8Array, contentType: string, contentEncoding: string): ParsedBody {
  const type = mediaTypeOf(contentType);
  if (!/^(?:identity)?$/i.test(contentEncoding)) return refuse("the body must not be compressed");
  if (!isUtf8(bytes)) return refuse("the body is not in UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) return refuse("the body begins with a byte order mark");
  if (type !== FORM_TYPE) return parseJson(text, type);
  // What curl sends of JSON when it is not told its type.
  if (/^\s*\{/.test(text)) return refuse("the body looks like JSON: send it with Content-Type: application/json");
  const form = parseForm(bytes);
  return form ? { ok: true, value: form, isForm: true } : refuse("the form has too many fields, or is not in UTF-8");
}

function mediaTypeOf(contentType: string): string {
  return contentType.split(";", 1).join("").trim().toLowerCase();
}

function parseJson(text: string, type: string): ParsedBody {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const isOther = /^multipart\/|[/+]xml$/.test(type);
    return refuse(isOther ? `the body must be JSON or a form, and not ${type}` : "the body is not JSON");
  }
  if (!isJsonObject(value)) return refuse("the body must be a JSON object");
  if (isDeeperThan(value, MAX_LEVELS)) return refuse(`the body is nested more than ${MAX_LEVELS} levels deep`);
  if (hasInexactNumber(text)) return refuse("a number has more digits than JSON numbers keep, or is too large");
  return { ok: true, value, isForm: false };
}

function refuse(fault: string): ParsedBody {
  return { ok: false, fault };
}
