import fc from "fast-check";
import { expect, test } from "vitest";
import { type CompiledHandler, checkDefinition } from "./check-definition.ts";
import type { Definition } from "./definition.ts";

const COMPILED: CompiledHandler = { ok: true, code: "compiled" };
const MINIMAL = { description: "adds", handler: "export default () => 1" };

function definitionOf(value: unknown): Definition {
  const checked = checkDefinition(value, COMPILED);
  if (!checked.ok) throw new Error(JSON.stringify(checked.violations));
  return checked.definition;
}

function pathsOf(value: unknown, compiled = COMPILED): string[] {
  const checked = checkDefinition(value, compiled);
  if (checked.ok) throw new Error("was accepted");
  for (const { message } of checked.violations) expect(message).not.toBe("");
  return checked.violations.map(({ path }) => path);
}

const withApi = (api: object, properties: object = { id: {}, q: {} }) => ({
  description: "",
  parameters: { properties },
  api: { method: "GET", url: "https://api.example/x", ...api },
});

test("[TOOL-22] parameters are optional, and a definition keeps them as saved", () => {
  expect(definitionOf(MINIMAL).parameters).toBeUndefined();
  const parameters = { type: "object", properties: { a: { format: "email" } } };
  expect(definitionOf({ ...MINIMAL, parameters }).parameters).toEqual(parameters);
});

test("[TOOL] the violations of a handler have its line and column", () => {
  const refused: CompiledHandler = {
    ok: false,
    violations: [
      { line: 3, column: 14, message: "Unexpected token" },
      { line: 9, column: 1, message: "A handler cannot import modules" },
    ],
  };
  expect(pathsOf(MINIMAL, refused)).toEqual(["handler:3:14", "handler:9:1"]);
});

test("[TOOL] unknown members are refused by name", () => {
  expect(pathsOf({ ...MINIMAL, externalApi: true, timeout: 5 })).toEqual(["externalApi", "timeout"]);
  expect(pathsOf(withApi({ methods: 1 }))).toEqual(["api.methods"]);
});

test("[TOOL-14] [EVT-24] a flag may have any value, and counts only when it is exactly true", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 2 }), (value) => {
      const flags = { external_api: value, external_api_write: value, public_api: value, webhook_event: value };
      const definition = definitionOf({ ...MINIMAL, ...flags, inbound_hook: value, inbound_hook_write: value });
      const { externalApi, externalApiWrite, publicApi, webhookEvent, inboundHook, inboundHookWrite } = definition;
      for (const flag of [externalApi, externalApiWrite, publicApi, webhookEvent, inboundHook, inboundHookWrite]) {
        expect(flag).toBe(value === true);
      }
    }),
  );
});

test("[TOOL] a tool has exactly one body", () => {
  expect(pathsOf({ description: "" })).toEqual([""]);
  expect(pathsOf({ ...MINIMAL, query: "q" })).toEqual(["query"]);
  expect(definitionOf({ description: "", query: "open_orders" }).body).toEqual({ kind: "query", query: "open_orders" });
});

test("[TOOL] the time limit is 1 to 60000 ms, 30000 by default", () => {
  expect(definitionOf(MINIMAL).timeoutMs).toBe(30_000);
  for (const timeout_ms of [1, 60_000]) expect(definitionOf({ ...MINIMAL, timeout_ms }).timeoutMs).toBe(timeout_ms);
  for (const timeout_ms of [0, 60_001, 1.5, "5", -1])
    expect(pathsOf({ ...MINIMAL, timeout_ms })).toEqual(["timeout_ms"]);
});

test.each([
  [{ ...MINIMAL, description: 5 }, "description"],
  [{ handler: "x" }, "description"],
  [{ ...MINIMAL, parameters: "x" }, "parameters"],
  [{ ...MINIMAL, external_api_description: {} }, "external_api_description"],
  [{ ...MINIMAL, external_api_response: [] }, "external_api_response"],
  [{ ...MINIMAL, args_fixture: null }, "args_fixture"],
  [{ description: "", handler: 5 }, "handler"],
  [{ description: "", query: "drop table" }, "query"],
  [{ description: "", api: [] }, "api"],
  [withApi({ method: "TRACE" }), "api.method"],
  [withApi({ body: {} }), "api.body"],
  [withApi({ headers: { Host: "x" } }), "api.headers.Host"],
  [withApi({ headers: { "a b": "x" } }), "api.headers.a b"],
  [withApi({ headers: { a: "x\r\ny" } }), "api.headers.a"],
  [withApi({ headers: { a: 5 } }), "api.headers.a"],
  [withApi({ headers: { a: "{{other}}" } }), "api.headers.a"],
  [withApi({ method: "POST", body: { a: ["{{other}}"] } }), "api.body.a.0"],
  [withApi({ method: "POST", body: { "{{id}}": 1 } }), "api.body.{{id}}"],
  [withApi({ method: "POST", body: { a: "{{id" } }), "api.body.a"],
  [withApi({ url: "https://api.example/{{toString}}" }), "api.url"],
])("[TOOL] %j is refused, with the path of the violation", (value, place) => {
  expect(pathsOf(value)).toEqual([place]);
});

test.each([
  "{{id}}://api.example/",
  "{{id}}",
  "https://{{id}}/",
  "https://api.example{{id}}",
  "https://api.example:{{id}}/",
  "https://{{id}}@api.example/",
  "https://user:pw@api.example/",
  "https://api.example\\{{id}}",
  "ftp://api.example/{{id}}",
  "https://api.example/../{{id}}",
  "https://api.example/%2E%2e/{{id}}",
  "https://api.example/a b",
  "",
])("[TOOL] the URL %j is refused: its scheme, host and port are fixed, its path has no dot segments", (url) => {
  expect(pathsOf(withApi({ url }))).toEqual(["api.url"]);
});

test("[TOOL] no definition makes the check throw", () => {
  const member = fc.constantFrom("description", "parameters", "handler", "api", "query", "timeout_ms", "async", "x");
  const any = fc.oneof(fc.jsonValue(), fc.dictionary(member, fc.jsonValue()));
  fc.assert(
    fc.property(any, (value) => {
      expect(typeof checkDefinition(value, COMPILED).ok).toBe("boolean");
    }),
  );
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i += 1) deep = { items: deep };
  expect(pathsOf({ ...MINIMAL, parameters: deep })).toEqual([""]);
});

test("[TOOL] text that the database cannot store is refused at any depth", () => {
  for (const text of ["a\u0000", "\ud800", "\udc00x"]) {
    expect(pathsOf({ ...MINIMAL, description: text })).toEqual([""]);
    expect(pathsOf({ ...MINIMAL, args_fixture: { a: [{ [text]: 1 }] } })).toEqual([""]);
  }
  expect(definitionOf({ ...MINIMAL, description: "\u{1f600} \\u0000" }).description).toBe("\u{1f600} \\u0000");
});

test("[TOOL-31] the patterns of one schema have a bounded size together", () => {
  const properties = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { type: "string", pattern: `${n}a{900}` }]));
  expect(definitionOf({ ...MINIMAL, parameters: { properties: properties(20) } }).parameters).toBeDefined();
  const paths = pathsOf({ ...MINIMAL, parameters: { properties: properties(30) } });
  expect(paths.at(-1)).toBe("parameters.properties.p29.pattern");
});
