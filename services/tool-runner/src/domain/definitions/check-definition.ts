import { isDeeperThan, isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { containsUnstorableText } from "../forbidden-text.ts";
import { readApi } from "./api-definition.ts";
import {
  DEFAULT_TIMEOUT_MS,
  type Definition,
  type DefinitionViolation,
  isToolName,
  MAX_RESULT_BYTES,
  MAX_TIMEOUT_MS,
  type Report,
} from "./definition.ts";
import { readParameterSchema } from "./parameter-schema.ts";

export type CheckedDefinition = { ok: true; definition: Definition } | { ok: false; violations: DefinitionViolation[] };

/** What the sandbox runs of a handler's source, or what is wrong with it. Lines and columns count from 1. */
export type CompiledHandler =
  | { ok: true; code: string }
  | { ok: false; violations: { line: number; column: number; message: string }[] };

/** More would be too deep for messages between services (`BINARY_OPTIONS` in service-host). */
const MAX_DEFINITION_LEVELS = 64;
const MAX_TEXT_CHARS = 10_000;
const BODIES = ["handler", "api", "query"] as const;
const MEMBERS: ReadonlySet<string> = new Set([
  ...BODIES,
  "description",
  "parameters",
  "external_api",
  "external_api_write",
  "public_api",
  "inbound_hook",
  "inbound_hook_write",
  "webhook_event",
  "async",
  "external_api_description",
  "external_api_response",
  "args_fixture",
  "timeout_ms",
  "max_result_bytes",
]);

/**
 * Reads a definition as a workspace saves it, or lists everything that is wrong with it. `compiled` is its handler, if it
 * has one.
 */
export function checkDefinition(value: unknown, compiled: CompiledHandler | undefined): CheckedDefinition {
  const violations: DefinitionViolation[] = [];
  const report: Report = (path, message) => void violations.push({ path, message });
  const definition = readWhole(value, compiled, report);
  return definition && violations.length === 0 ? { ok: true, definition } : { ok: false, violations };
}

function readWhole(value: unknown, compiled: CompiledHandler | undefined, report: Report): Definition | undefined {
  if (!isJsonObject(value)) return report("", "must be an object");
  if (isDeeperThan(value, MAX_DEFINITION_LEVELS)) {
    return report("", `must not be nested more than ${MAX_DEFINITION_LEVELS} levels deep`);
  }
  if (containsUnstorableText(value)) return report("", "must contain neither NUL characters nor unpaired surrogates");
  for (const name of Object.keys(value)) {
    if (!MEMBERS.has(name)) report(name, "is not a member of a definition");
  }
  if (ownValue(value, "description") === undefined) report("description", "is missing");
  readText(value, "external_api_description", report);
  readObject(value, "external_api_response", report);
  readObject(value, "args_fixture", report);
  const flag = (name: string) => ownValue(value, name) === true;
  const parameters = readObject(value, "parameters", report);
  readParameterSchema(parameters, report);
  const members = {
    description: readText(value, "description", report) ?? "",
    parameters,
    externalApi: flag("external_api"),
    externalApiWrite: flag("external_api_write"),
    publicApi: flag("public_api"),
    inboundHook: flag("inbound_hook"),
    inboundHookWrite: flag("inbound_hook_write"),
    webhookEvent: flag("webhook_event"),
    async: Boolean(ownValue(value, "async")),
    timeoutMs: readInteger(value, "timeout_ms", MAX_TIMEOUT_MS, report) ?? DEFAULT_TIMEOUT_MS,
    maxResultBytes: readInteger(value, "max_result_bytes", MAX_RESULT_BYTES, report) ?? MAX_RESULT_BYTES,
  };
  const body = readBody(value, parameters, compiled, report);
  return body && { ...members, body };
}

function readText(value: JsonObject, path: string, report: Report): string | undefined {
  const text = ownValue(value, path);
  if (text === undefined) return undefined;
  if (typeof text !== "string") return report(path, "must be a string");
  return text.length <= MAX_TEXT_CHARS ? text : report(path, `must have at most ${MAX_TEXT_CHARS} characters`);
}

function readObject(value: JsonObject, path: string, report: Report): JsonObject | undefined {
  const object = ownValue(value, path);
  return object === undefined || isJsonObject(object) ? object : report(path, "must be an object");
}

function readInteger(value: JsonObject, path: string, max: number, report: Report): number | undefined {
  const found = ownValue(value, path) ?? undefined;
  if (found === undefined) return undefined;
  const isValid = typeof found === "number" && Number.isInteger(found) && found >= 1 && found <= max;
  return isValid ? found : report(path, `must be an integer from 1 to ${max}`);
}

function readBody(
  value: JsonObject,
  parameters: JsonObject | undefined,
  compiled: CompiledHandler | undefined,
  report: Report,
): Definition["body"] | undefined {
  const [kind, ...others] = BODIES.filter((name) => ownValue(value, name) !== undefined);
  if (kind === undefined || others.length > 0) {
    return report(others[0] ?? "", "a tool has exactly one of handler, api and query");
  }
  const body = value[kind];
  if (kind === "query") {
    if (isToolName(body)) return { kind, query: body };
    return report(kind, "must be the name of a prepared query: 1 to 64 of A-Z a-z 0-9 _ -");
  }
  if (kind === "api") {
    const properties = parameters && ownValue(parameters, "properties");
    return readApi(body, new Set(isJsonObject(properties) ? Object.keys(properties) : []), report);
  }
  if (typeof body !== "string" || !compiled) return report(kind, "must be a string");
  if (compiled.ok) return { kind, code: compiled.code };
  for (const { line, column, message } of compiled.violations) report(`handler:${line}:${column}`, message);
  return undefined;
}
