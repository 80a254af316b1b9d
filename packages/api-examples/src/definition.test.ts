import { expect, test } from "vitest";
import { bodyOf, describe } from "./definition.ts";

const SCHEMA = {
  type: "object",
  title: "kept",
  properties: { a: { type: "string", format: "email" }, _api_key: { type: "object" } },
  required: ["a", "_api_key"],
};

test("[OAPI-4] the parameters are described as saved, without the reserved names", () => {
  const { parametersJson } = describe({ description: "d", parameters: SCHEMA }, "other");
  expect(JSON.parse(parametersJson)).toEqual({
    type: "object",
    title: "kept",
    properties: { a: { type: "string", format: "email" } },
    required: ["a"],
  });
});

test("[OAPI-5] the description for developers comes before the one for models", () => {
  expect(describe({ description: "model", external_api_description: "developer" }, "other").description).toBe(
    "developer",
  );
  expect(describe({ description: "model" }, "other").description).toBe("model");
  expect(describe({ description: "model", external_api_description: "" }, "other").description).toBe("model");
});

test("[OAPI-6] the response schema is described if there is one", () => {
  const response = { type: "object", properties: { success: { type: "boolean" } } };
  expect(JSON.parse(describe({ external_api_response: response }, "other").responseJson)).toEqual(response);
  expect(describe({}, "other")).toMatchObject({ responseJson: "", parametersJson: "", argsFixtureJson: "" });
});

test("[BLD-5] [BLD-7] an example contains only declared arguments", () => {
  const args_fixture = { a: "x@y.test", secret_note: "internal", _api_key: { id: "1" }, toString: 1 };
  expect(describe({ parameters: SCHEMA, args_fixture }, "other").argsFixtureJson).toBe('{"a":"x@y.test"}');
  expect(describe({ args_fixture }, "other").argsFixtureJson).toBe("{}");
});

test("[RO-7] a tool is described as writing only if its flag is exactly true", () => {
  expect(describe({ external_api_write: true }, "query")).toMatchObject({ mayWrite: true, readOnly: false });
  for (const flag of [1, "true", "yes", undefined])
    expect(describe({ external_api_write: flag }, "query")).toMatchObject({ mayWrite: false, readOnly: true });
});

test("[RO-8] [RO-9] a tool that may send email or call other services is not described as read-only", () => {
  expect(describe({}, "get")).toMatchObject({ mayWrite: false, readOnly: true });
  expect(describe({}, "other")).toMatchObject({ mayWrite: false, readOnly: false });
});

test("[BLD-23] a whole definition tells what it is", () => {
  expect(bodyOf({ query: "orders" })).toBe("query");
  expect(bodyOf({ api: { method: "GET", url: "https://x.test" } })).toBe("get");
  expect(bodyOf({ api: { method: "POST", url: "https://x.test" } })).toBe("other");
  expect(bodyOf({ handler: "export default () => 1" })).toBe("other");
});
