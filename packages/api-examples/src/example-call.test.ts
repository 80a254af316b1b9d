import { expect, test } from "vitest";
import { describe } from "./definition.ts";
import { describedTool } from "./described-tool.ts";
import { bodyOfCall, exampleCall, exampleResult } from "./example-call.ts";

const BASE = "https://api.example.com";
const parameters = {
  type: "object",
  properties: { note: { type: "string" }, size: { enum: ["S", "M"] }, amount: { type: "integer", minimum: 5 } },
  required: ["amount"],
};
const toolOf = (definition: object) =>
  describedTool({ name: "order", ...describe({ description: "d", ...definition }, "other") }, () => "#");
const bodyOf = (definition: object) => bodyOfCall(exampleCall(toolOf(definition), BASE));

test("[BLD-5] [BLD-7] the fixture comes before the schema, and only its declared fields are shown", () => {
  expect(bodyOf({ parameters, args_fixture: { amount: 7, secret: 1, _api_key: {} } })).toBe('{"args":{"amount":7}}');
  expect(bodyOf({ args_fixture: { amount: 7 } })).toBe('{"args":{}}');
});

test("[BLD-6] without a fixture the schema decides: required fields first, the first of an enum, the minimum", () => {
  expect(bodyOf({ parameters })).toBe('{"args":{"amount":5,"note":"example","size":"S"}}');
});

test("[BLD-6] without any example the call has no arguments, rather than wrong ones", () => {
  const code = { type: "string", pattern: "^[A-Z]{3}$" };
  expect(bodyOf({ parameters: { properties: { code }, required: ["code"] } })).toBe('{"args":{}}');
});

test("[BLD-27] the example of a result passes the response schema, and has the usual shape without one", () => {
  const response = { type: "object", properties: { total: { type: "number", minimum: 3 } } };
  expect(exampleResult(toolOf({ external_api_response: response }))).toEqual({ total: 3 });
  for (const none of [{}, { external_api_response: {} }, { external_api_response: { oneOf: [{ type: "null" }] } }])
    expect(exampleResult(toolOf(none))).toEqual({ success: true, result: "example" });
});
