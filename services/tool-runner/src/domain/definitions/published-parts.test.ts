import { expect, test } from "vitest";
import { publishedViolations } from "./published-parts.ts";

const pathsOf = (definition: Record<string, unknown>) => publishedViolations(definition).map(({ path }) => path);

test.each([
  {},
  { type: "object", properties: { a: { type: ["string", "null"], pattern: "^\\p{L}+$" } }, required: ["a"] },
  { $schema: "http://json-schema.org/draft-07/schema#", definitions: { a: { items: [{ type: "string" }] } } },
  { properties: { pattern: { type: "string" } }, default: { pattern: "(" } },
])("[OAPI-6] a response schema of either draft is accepted: %j", (external_api_response) => {
  expect(pathsOf({ external_api_response })).toEqual([]);
});

test.each<[Record<string, unknown>, string]>([
  [{ type: "text" }, "external_api_response.type"],
  [{ properties: { a: { minimum: "1" } } }, "external_api_response.properties.a.minimum"],
  [{ properties: [] }, "external_api_response.properties"],
  [{ properties: { a: { pattern: "(" } } }, "external_api_response.properties.a"],
  [{ patternProperties: { "[": {} } }, "external_api_response"],
  [{ description: "x".repeat(70_000) }, "external_api_response"],
])("[OAPI-6] what is no JSON Schema is refused as a response schema: %j", (external_api_response, path) => {
  expect(pathsOf({ external_api_response })).toEqual([path]);
});

test("[BLD-5] a fixture must pass the tool's own parameters; members that they do not declare do not matter", () => {
  const parameters = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  expect(pathsOf({ parameters, args_fixture: { name: "Ada", other: 1 } })).toEqual([]);
  expect(pathsOf({ parameters, args_fixture: { name: 5 } })).toEqual(["args_fixture.name"]);
  expect(pathsOf({ parameters, args_fixture: {} })).toEqual(["args_fixture.name"]);
  expect(pathsOf({ args_fixture: { anything: 1 } })).toEqual([]);
});
