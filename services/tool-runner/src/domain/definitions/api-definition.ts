import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { refuseRequest } from "@toolgate/safe-fetch/request-rules";
import { parseTargetUrl } from "@toolgate/safe-fetch/target-url";
import { type ApiBody, fillIn, hasStrayOpening, namesIn, templateTexts } from "../api-calls/template.ts";
import { workspaceValueOf } from "../api-calls/workspace-values.ts";
import type { Report } from "./definition.ts";

const MAX_PLACEHOLDERS = 50;
const MAX_HEADERS = 50;
const METHODS: ReadonlySet<unknown> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const MEMBERS: ReadonlySet<string> = new Set(["method", "url", "headers", "body"]);

const FIXED_AUTHORITY = /^https?:\/\/[^/?#{}\\]+(?=[/?#]|$)/i;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const PATH_END = /[?#]/;
/** Replaces every argument while a template is checked. */
const SAMPLE = () => "x";

/** Reads the `api` of a definition. Every placeholder must name a declared parameter, a secret or a variable. */
export function readApi(value: unknown, declared: ReadonlySet<string>, report: Report): ApiBody | undefined {
  if (!isJsonObject(value)) return report("api", "must be an object");
  for (const name of Object.keys(value)) {
    if (!MEMBERS.has(name)) report(`api.${name}`, "is not a member of an api call");
  }
  const method = ownValue(value, "method");
  if (!METHODS.has(method)) report("api.method", `must be one of ${[...METHODS].join(", ")}`);
  const url = ownValue(value, "url");
  const urlViolation = violationOfUrl(url);
  if (urlViolation) report("api.url", urlViolation);
  const body = ownValue(value, "body");
  if (method === "GET" && body !== undefined) report("api.body", "a GET has no body");
  checkMemberNames(body, "api.body", report);
  const api: ApiBody = {
    kind: "api",
    method: String(method),
    url: urlViolation ? "" : String(url),
    headers: readHeaders(value, report),
    body,
  };
  checkPlaceholders(api, declared, report);
  return api;
}

function violationOfUrl(template: unknown): string | undefined {
  if (typeof template !== "string") return "must be a string";
  if (!FIXED_AUTHORITY.test(template)) {
    return "must start with http:// or https:// and a host; scheme, host and port cannot contain a placeholder";
  }
  const sample = fillIn(template, SAMPLE);
  const target = parseTargetUrl(sample, { applicationHosts: [], schemes: ["https:", "http:"] });
  if (!target.ok) return `cannot be called (${target.reason})`;
  const [path = ""] = sample.split(PATH_END, 1);
  return DOT_SEGMENT.test(path) ? "must not contain the path segments . and .." : undefined;
}

function readHeaders(value: JsonObject, report: Report): Record<string, string> {
  const read: Record<string, string> = {};
  const headers = ownValue(value, "headers") ?? {};
  if (!isJsonObject(headers)) {
    report("api.headers", "must be an object");
    return read;
  }
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) report("api.headers", `at most ${MAX_HEADERS} headers`);
  for (const [name, template] of entries) {
    const isText = typeof template === "string";
    const violation = isText ? refuseRequest("GET", { [name]: fillIn(template, SAMPLE) }) : "must be a string";
    if (violation) report(`api.headers.${name}`, violation);
    else read[name] = String(template);
  }
  return read;
}

function checkMemberNames(template: unknown, path: string, report: Report): void {
  if (typeof template !== "object" || template === null) return;
  for (const [name, member] of Object.entries(template)) {
    if (name.includes("{{")) report(`${path}.${name}`, "the name of a member cannot contain a placeholder");
    checkMemberNames(member, `${path}.${name}`, report);
  }
}

function checkPlaceholders(api: ApiBody, declared: ReadonlySet<string>, report: Report): void {
  let placeholders = 0;
  for (const { path, text } of templateTexts(api)) {
    for (const name of namesIn(text)) {
      placeholders += 1;
      if (!declared.has(name) && !workspaceValueOf(name)) report(path, `{{${name}}} is not a declared parameter`);
    }
    if (hasStrayOpening(text)) report(path, "{{ does not start a placeholder");
  }
  if (placeholders > MAX_PLACEHOLDERS) report("api", `at most ${MAX_PLACEHOLDERS} placeholders`);
}
