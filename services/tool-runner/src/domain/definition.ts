import { readApi } from "./api-definition.ts";
import type { Fault } from "./fault.ts";
import { holdsUnstorableText, isDeeperThan, isJsonObject, type JsonObject, ownValue } from "./json-object.ts";
import { checkParameters } from "./parameters.ts";

export type { Fault } from "./fault.ts";

export type HandlerBody = { kind: "handler"; code: string };
export type ApiBody = {
  kind: "api";
  method: string;
  url: string;
  headers: Record<string, string>;
  /** A template in JSON; undefined when the call has no body. */
  body: unknown;
};
export type QueryBody = { kind: "query"; query: string };
/** A tool that the platform itself brings along; its name says what it does. */
export type SharedBody = { kind: "shared" };

/** A tool as it runs. Flags are true only where the saved value is exactly true; `async` where it is truthy. */
export type Definition = {
  description: string;
  parameters: JsonObject | undefined;
  externalApi: boolean;
  externalApiWrite: boolean;
  publicApi: boolean;
  inboundHook: boolean;
  inboundHookWrite: boolean;
  webhookEvent: boolean;
  async: boolean;
  externalApiDescription: string | undefined;
  externalApiResponse: JsonObject | undefined;
  argsFixture: JsonObject | undefined;
  timeoutMs: number;
  maxResultBytes: number;
  body: HandlerBody | ApiBody | QueryBody | SharedBody;
};

export type CheckedDefinition = { ok: true; definition: Definition } | { ok: false; faults: Fault[] };

/** Checks the source of a handler and makes of it what the sandbox runs. Lines and columns count from 1. */
export type CompileHandler = (
  source: string,
) => { ok: true; code: string } | { ok: false; faults: { line: number; column: number; message: string }[] };

export const MAX_TIMEOUT_MS = 60_000;
export const DEFAULT_TIMEOUT_MS = 30_000;
export const MAX_RESULT_BYTES = 1024 * 1024;

const MAX_DEFINITION_LEVELS = 64;
const MAX_TEXT_CHARS = 10_000;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MEMBERS: ReadonlySet<string> = new Set([
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
  "handler",
  "api",
  "query",
]);
const BODIES = ["handler", "api", "query"] as const;

/** Names of tools and of prepared queries. */
export function isToolName(name: unknown): name is string {
  return typeof name === "string" && NAME.test(name);
}

/** Reads a definition as a workspace saves it, or says all that keeps it from working. */
export function checkDefinition(value: unknown, compile: CompileHandler): CheckedDefinition {
  if (!isJsonObject(value)) return refuse("must be an object");
  if (isDeeperThan(value, MAX_DEFINITION_LEVELS)) {
    return refuse(`must not be nested more than ${MAX_DEFINITION_LEVELS} levels`);
  }
  if (holdsUnstorableText(value)) return refuse("must hold neither NUL characters nor halves of surrogate pairs");
  const faults: Fault[] = [];
  for (const name of Object.keys(value)) {
    if (!MEMBERS.has(name)) faults.push({ path: name, message: "is not a member of a definition" });
  }
  const text = (name: string) => readText(value, name, faults);
  const object = (name: string) => readObject(value, name, faults);
  const flag = (name: string) => ownValue(value, name) === true;

  const description = text("description");
  if (ownValue(value, "description") === undefined) faults.push({ path: "description", message: "is missing" });
  const parameters = object("parameters");
  faults.push(...checkParameters(parameters));
  const definition = {
    description: description ?? "",
    parameters,
    externalApi: flag("external_api"),
    externalApiWrite: flag("external_api_write"),
    publicApi: flag("public_api"),
    inboundHook: flag("inbound_hook"),
    inboundHookWrite: flag("inbound_hook_write"),
    webhookEvent: flag("webhook_event"),
    async: Boolean(ownValue(value, "async")),
    externalApiDescription: text("external_api_description"),
    externalApiResponse: object("external_api_response"),
    argsFixture: object("args_fixture"),
    timeoutMs: readInteger(value, "timeout_ms", { fallback: DEFAULT_TIMEOUT_MS, max: MAX_TIMEOUT_MS }, faults),
    maxResultBytes: readInteger(
      value,
      "max_result_bytes",
      { fallback: MAX_RESULT_BYTES, max: MAX_RESULT_BYTES },
      faults,
    ),
  };
  const body = readBody(value, parameters, compile, faults);
  if (body === undefined || faults.length > 0) return { ok: false, faults };
  return { ok: true, definition: { ...definition, body } };
}

function refuse(message: string): CheckedDefinition {
  return { ok: false, faults: [{ path: "", message }] };
}

function readText(value: JsonObject, path: string, faults: Fault[]): string | undefined {
  const text = ownValue(value, path);
  if (text === undefined) return undefined;
  if (typeof text !== "string") faults.push({ path, message: "must be a string" });
  else if (text.length > MAX_TEXT_CHARS)
    faults.push({ path, message: `must have at most ${MAX_TEXT_CHARS} characters` });
  else return text;
  return undefined;
}

function readObject(value: JsonObject, path: string, faults: Fault[]): JsonObject | undefined {
  const object = ownValue(value, path);
  if (object === undefined || isJsonObject(object)) return object;
  faults.push({ path, message: "must be an object" });
  return undefined;
}

function readInteger(
  value: JsonObject,
  path: string,
  { fallback, max }: { fallback: number; max: number },
  faults: Fault[],
): number {
  const found = ownValue(value, path) ?? fallback;
  if (typeof found === "number" && Number.isInteger(found) && found >= 1 && found <= max) return found;
  faults.push({ path, message: `must be an integer from 1 to ${max}` });
  return fallback;
}

function readBody(
  value: JsonObject,
  parameters: JsonObject | undefined,
  compile: CompileHandler,
  faults: Fault[],
): Definition["body"] | undefined {
  const [kind, ...others] = BODIES.filter((name) => ownValue(value, name) !== undefined);
  if (kind === undefined || others.length > 0) {
    faults.push({ path: others[0] ?? "", message: "a tool has exactly one of handler, api and query" });
    return undefined;
  }
  const body = value[kind];
  if (kind === "api") return readApi(body, declaredNames(parameters), faults);
  if (kind === "handler") return readHandler(body, compile, faults);
  if (isToolName(body)) return { kind, query: body };
  faults.push({ path: kind, message: "must be the name of a prepared query: 1 to 64 of A-Z a-z 0-9 _ -" });
  return undefined;
}

function readHandler(source: unknown, compile: CompileHandler, faults: Fault[]): HandlerBody | undefined {
  if (typeof source !== "string") {
    faults.push({ path: "handler", message: "must be a string" });
    return undefined;
  }
  const compiled = compile(source);
  if (compiled.ok) return { kind: "handler", code: compiled.code };
  for (const { line, column, message } of compiled.faults) faults.push({ path: `handler:${line}:${column}`, message });
  return undefined;
}

function declaredNames(parameters: JsonObject | undefined): ReadonlySet<string> {
  const properties = parameters && ownValue(parameters, "properties");
  return new Set(isJsonObject(properties) ? Object.keys(properties) : []);
}
