import { isUtf8 } from "node:buffer";
import { hasInexactNumber } from "@toolgate/rules/json-numbers";
import { isDeeperThan, isJsonObject, type JsonObject } from "@toolgate/rules/json-object";

/**
 * `isForm`: all values are strings, although the target may need numbers or booleans. `fault`: what the sender should change.
 */
export type ParsedBody = { ok: true; value: JsonObject; isForm: boolean } | { ok: false; fault: string };

/** One less than the arguments of a tool may have, because the body may be one of them. */
const MAX_LEVELS = 63;
const BYTE_ORDER_MARK = 0xfeff;
const FORM_TYPE = "application/x-www-form-urlencoded";
/** Parsing more would delay other calls. */
export const MAX_FORM_FIELDS = 1_000;

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
  return parseForm(text);
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

/**
 * [IN-20] The fields of a form: a string each, or a list of strings for a name that occurs several times. A `%` without two
 * hexadecimal digits remains as it is.
 */
function parseForm(text: string): ParsedBody {
  const fault = "the form has too many fields, or is not in UTF-8";
  const parts = text.split("&").filter((part) => part !== "");
  if (parts.length > MAX_FORM_FIELDS) return refuse(fault);
  const fields = new Map<string, string | string[]>();
  for (const part of parts) {
    const equals = part.indexOf("=");
    const name = decodePart(equals === -1 ? part : part.slice(0, equals));
    const value = decodePart(equals === -1 ? "" : part.slice(equals + 1));
    if (name === undefined || value === undefined) return refuse(fault);
    const earlier = fields.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else fields.set(name, earlier === undefined ? value : [earlier, value]);
  }
  // Unlike an assignment, this makes a field named __proto__ an ordinary member.
  return { ok: true, value: Object.fromEntries(fields), isForm: true };
}

/** Undefined when what is percent-encoded is not UTF-8. */
function decodePart(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll("+", " ").replace(/%(?![0-9a-f]{2})/gi, "%25"));
  } catch {
    return undefined;
  }
}

function refuse(fault: string): ParsedBody {
  return { ok: false, fault };
}
