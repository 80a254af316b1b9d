import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { type ApiBody, fillIn, wholeName } from "./template.ts";

const CONTENT_TYPE = "content-type";

/**
 * The call that a declarative tool makes. Arguments are percent-encoded in the URL and lose their control characters in
 * headers. In the body, a string that is one placeholder becomes the argument itself. A missing argument is empty text,
 * or null if it would replace a whole string of the body.
 */
export function renderApiCall(api: ApiBody, args: JsonObject) {
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(api.headers)) headers[name] = headerValue(fillInText(template, args));
  const body = api.body === undefined ? undefined : JSON.stringify(fillInBody(api.body, args));
  if (body !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === CONTENT_TYPE)) {
    headers[CONTENT_TYPE] = "application/json";
  }
  return { url: fillInUrl(api.url, args), method: api.method, headers, body };
}

const PATH_END = /[?#]/;
const DOT_SEGMENT = /(?<=\/)(?:\.|%2e){1,2}(?=\/|$)/gi;
const DOT = /\.|%2e/gi;

/**
 * URL parsers resolve the segments `.` and `..`, even percent-encoded, and would remove parts of the template. So the
 * dots of these segments are encoded twice.
 */
function fillInUrl(template: string, args: JsonObject): string {
  const url = fillIn(template, (name) => encodeURIComponent(textOf(ownValue(args, name)).toWellFormed()));
  const end = url.search(PATH_END);
  const path = end === -1 ? url : url.slice(0, end);
  return path.replace(DOT_SEGMENT, (dots) => dots.replace(DOT, "%252E")) + url.slice(path.length);
}

const CONTROL_CHARS = /\p{Cc}/gu;

/** Header values are bytes; anything that is not ASCII is sent as UTF-8. */
function headerValue(text: string): string {
  return Buffer.from(text.replace(CONTROL_CHARS, "").trim(), "utf8").toString("latin1");
}

function fillInBody(template: unknown, args: JsonObject): unknown {
  if (typeof template === "string") {
    const name = wholeName(template);
    return name === undefined ? fillInText(template, args) : (ownValue(args, name) ?? null);
  }
  if (Array.isArray(template)) return template.map((item) => fillInBody(item, args));
  if (!isJsonObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, member]) => [name, fillInBody(member, args)]));
}

function fillInText(template: string, args: JsonObject): string {
  return fillIn(template, (name) => textOf(ownValue(args, name)));
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
