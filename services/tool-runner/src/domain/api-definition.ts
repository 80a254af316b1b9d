import { refuseRequest } from "@toolgate/safe-fetch/request-rules";
import { parseTargetUrl } from "@toolgate/safe-fetch/target-url";
import { placeholdersOf, templateTexts } from "./api-call.ts";
import type { ApiBody } from "./definition.ts";
import type { Fault } from "./fault.ts";
import { isJsonObject, type JsonObject, ownValue } from "./json-object.ts";
import { fillIn, hasStrayOpening } from "./template.ts";
import { workspaceValueOf } from "./workspace-names.ts";

const MAX_PLACEHOLDERS = 50;
const MAX_HEADERS = 50;
const METHODS: ReadonlySet<unknown> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const MEMBERS: ReadonlySet<string> = new Set(["method", "url", "headers", "body"]);

/** Reads the `api` of a definition. Every placeholder must name a declared parameter, a secret or a variable. */
export function readApi(value: unknown, declared: ReadonlySet<string>, faults: Fault[]): ApiBody | undefined {
  if (!isJsonObject(value)) {
    faults.push({ path: "api", message: "must be an object" });
    return undefined;
  }
  const before = faults.length;
  for (const name of Object.keys(value)) {
    if (!MEMBERS.has(name)) faults.push({ path: `api.${name}`, message: "is not a member of an api call" });
  }
  const api: ApiBody = {
    kind: "api",
    method: readMethod(value, faults),
    url: readUrl(value, faults),
    headers: readHeaders(value, faults),
    body: ownValue(value, "body"),
  };
  if (api.method === "GET" && api.body !== undefined) faults.push({ path: "api.body", message: "a GET has no body" });
  checkNames(api.body, "api.body", faults);
  checkPlaceholders(api, declared, faults);
  return faults.length === before ? api : undefined;
}

function readMethod(value: JsonObject, faults: Fault[]): string {
  const method = ownValue(value, "method");
  if (typeof method === "string" && METHODS.has(method)) return method;
  faults.push({ path: "api.method", message: `must be one of ${[...METHODS].join(", ")}` });
  return "";
}

const FIXED_AUTHORITY = /^https?:\/\/[^/?#{}\\]+(?=[/?#]|$)/i;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const PATH_END = /[?#]/;
const SAMPLE = "x";

function readUrl(value: JsonObject, faults: Fault[]): string {
  const url = ownValue(value, "url");
  const fault = typeof url === "string" ? urlFault(url) : "must be a string";
  if (fault === undefined) return url as string;
  faults.push({ path: "api.url", message: fault });
  return "";
}

function urlFault(template: string): string | undefined {
  if (!FIXED_AUTHORITY.test(template)) {
    return "must start with http:// or https:// and a host; scheme, host and port hold no placeholder";
  }
  const sample = fillIn(template, () => SAMPLE);
  const target = parseTargetUrl(sample, { applicationHosts: [], schemes: ["https:", "http:"] });
  if (!target.ok) return `cannot be called (${target.reason})`;
  const [path = ""] = sample.split(PATH_END, 1);
  return DOT_SEGMENT.test(path) ? "must not hold the path segments . and .." : undefined;
}

function readHeaders(value: JsonObject, faults: Fault[]): Record<string, string> {
  const headers = ownValue(value, "headers") ?? {};
  if (!isJsonObject(headers)) {
    faults.push({ path: "api.headers", message: "must be an object" });
    return {};
  }
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) faults.push({ path: "api.headers", message: `at most ${MAX_HEADERS} headers` });
  const read: Record<string, string> = {};
  for (const [name, template] of entries) {
    const fault = headerFault(name, template);
    if (fault === undefined) read[name] = template as string;
    else faults.push({ path: `api.headers.${name}`, message: fault });
  }
  return read;
}

function headerFault(name: string, template: unknown): string | undefined {
  if (typeof template !== "string") return "must be a string";
  return refuseRequest("GET", { [name]: fillIn(template, () => SAMPLE) });
}

function checkNames(template: unknown, path: string, faults: Fault[]): void {
  if (typeof template !== "object" || template === null) return;
  for (const [name, member] of Object.entries(template)) {
    if (name.includes("{{")) faults.push({ path: `${path}.${name}`, message: "a member's name holds no placeholder" });
    checkNames(member, `${path}.${name}`, faults);
  }
}

function checkPlaceholders(api: ApiBody, declared: ReadonlySet<string>, faults: Fault[]): void {
  const placeholders = placeholdersOf(api);
  if (placeholders.length > MAX_PLACEHOLDERS) {
    faults.push({ path: "api", message: `at most ${MAX_PLACEHOLDERS} placeholders` });
  }
  for (const { path, name } of placeholders) {
    if (declared.has(name) || workspaceValueOf(name)) continue;
    faults.push({ path, message: `{{${name}}} is not a declared parameter` });
  }
  for (const { path, text } of templateTexts(api)) {
    if (hasStrayOpening(text)) faults.push({ path, message: "{{ opens no placeholder" });
  }
}
