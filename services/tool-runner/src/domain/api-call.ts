import type { ApiBody } from "./definition.ts";
import { isJsonObject, type JsonObject, ownValue } from "./json-object.ts";
import { fillIn, namesIn, wholeName } from "./template.ts";

export type ApiTemplates = Pick<ApiBody, "url" | "headers" | "body">;

export type ApiCall = { url: string; method: string; headers: Record<string, string>; body: string | undefined };

const CONTENT_TYPE = "content-type";

/**
 * The call that a declarative tool makes. Arguments are percent-encoded in the URL, stripped of control characters in
 * headers, and in the body a string that is one placeholder becomes the argument itself. A missing argument is an empty
 * text, or null where it stands alone.
 */
export function renderApiCall(api: ApiBody, args: JsonObject): ApiCall {
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(api.headers)) {
    headers[name] = headerValue(fillIn(template, (argument) => textOf(ownValue(args, argument))));
  }
  const body = api.body === undefined ? undefined : JSON.stringify(fillBody(api.body, args));
  if (body !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === CONTENT_TYPE)) {
    headers[CONTENT_TYPE] = "application/json";
  }
  return { url: fillUrl(api.url, args), method: api.method, headers, body };
}

/** Every placeholder of an api body, with its place: `api.url`, `api.headers.X-Id`, `api.body.items.0`. */
export function placeholdersOf(api: ApiTemplates): { path: string; name: string }[] {
  return templateTexts(api).flatMap(({ path, text }) => namesIn(text).map((name) => ({ path, name })));
}

/** Every text of an api body in which placeholders are filled in. */
export function templateTexts(api: ApiTemplates): { path: string; text: string }[] {
  return [
    { path: "api.url", text: api.url },
    ...Object.entries(api.headers).map(([name, text]) => ({ path: `api.headers.${name}`, text })),
    ...textsOf(api.body, "api.body"),
  ];
}

function textsOf(template: unknown, path: string): { path: string; text: string }[] {
  if (typeof template === "string") return [{ path, text: template }];
  if (typeof template !== "object" || template === null) return [];
  return Object.entries(template).flatMap(([name, member]) => textsOf(member, `${path}.${name}`));
}

const PATH_END = /[?#]/;
const DOT_SEGMENT = /(?<=\/)(?:\.|%2e){1,2}(?=\/|$)/gi;
const DOT = /\.|%2e/gi;

/**
 * A URL parser removes the segments `.` and `..`, also when their dots are percent-encoded, and with them what the
 * template says; so their dots are encoded twice.
 */
function fillUrl(template: string, args: JsonObject): string {
  const url = fillIn(template, (name) => encodeURIComponent(textOf(ownValue(args, name)).toWellFormed()));
  const end = url.search(PATH_END);
  const path = end === -1 ? url : url.slice(0, end);
  return path.replace(DOT_SEGMENT, (dots) => dots.replace(DOT, "%252E")) + url.slice(path.length);
}

const CONTROL_CHARS = /\p{Cc}/gu;

/** Header values are bytes; what is not ASCII goes out as UTF-8. */
function headerValue(text: string): string {
  return Buffer.from(text.replace(CONTROL_CHARS, "").trim(), "utf8").toString("latin1");
}

function fillBody(template: unknown, args: JsonObject): unknown {
  if (typeof template === "string") {
    const name = wholeName(template);
    if (name !== undefined) return ownValue(args, name) ?? null;
    return fillIn(template, (argument) => textOf(ownValue(args, argument)));
  }
  if (Array.isArray(template)) return template.map((item) => fillBody(item, args));
  if (!isJsonObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, member]) => [name, fillBody(member, args)]));
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
