import { isUtf8 } from "node:buffer";
import { hasInexactNumber } from "@toolgate/rules/json-numbers";
import { isDeeperThan, isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { parse } from "secure-json-parse";

/**
 * [ERR-2] Why a call's arguments are refused. `field` has dots between levels and is empty for the arguments as a whole;
 * `rule` is the schema keyword; `message` never contains a value that was sent.
 */
export type Violation = { field: string; rule: string; message: string };

export type CallBody = { ok: true; args: JsonObject } | { ok: false; violations: Violation[] };

export const MAX_ARGUMENT_LEVELS = 64;

const INEXACT_NUMBER = "a number has more digits than JSON numbers keep, or is too large: send it as a string";
const BYTE_ORDER_MARK = 0xfeff;

/**
 * [TOOL-9] [TOOL-10] The arguments in a call's body. Members next to `args` are ignored, and `__proto__` is removed at
 * every depth. Never throws.
 */
export function parseCallBody(body: Uint8Array): CallBody {
  if (body.byteLength === 0) return { ok: true, args: {} };
  if (!isUtf8(body)) return refuse("encoding", "the body is not valid UTF-8");
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) return refuse("encoding", "the body starts with a byte order mark");
  let parsed: unknown;
  try {
    parsed = parse(text, { protoAction: "remove", constructorAction: "ignore" });
  } catch {
    return refuse("json", "the body is not valid JSON");
  }
  if (!isJsonObject(parsed)) return refuse("type", "the body must be a JSON object");
  const args = Object.hasOwn(parsed, "args") ? parsed.args : {};
  if (!isJsonObject(args)) return refuse("type", "args must be an object");
  if (isDeeperThan(args, MAX_ARGUMENT_LEVELS)) {
    return refuse("depth", `args must not be nested more than ${MAX_ARGUMENT_LEVELS} levels deep`);
  }
  if (hasInexactNumber(text)) return refuse("number", INEXACT_NUMBER);
  return { ok: true, args };
}

function refuse(rule: string, message: string): CallBody {
  return { ok: false, violations: [{ field: "", rule, message }] };
}

/** [TOOL-11] The JSON text that a caller receives for what a tool returned. Anything but an object is wrapped. */
export function responseJson(resultJson: string): string {
  return /^\s*\{/.test(resultJson) ? resultJson : `{"success":true,"result":${resultJson}}`;
}
