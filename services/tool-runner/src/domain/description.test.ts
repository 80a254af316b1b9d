import { expect, test } from "vitest";
import { describe } from "./description.ts";

const SCHEMA = {
  type: "object",
  title: "kept",
  properties: { a: { type: "string", format: "email" }, _api_key: { type: "object" } },
  required: ["a", "_api_key"],
};

test("[OAPI-4] the parameters are told as saved, without the reserved names", () => {
  const { parametersJson } = describe({ description: "d", parameters: SCHEMA });
  expect(JSON.parse(parametersJson)).toEqual({
    type: "object",
    title: "kept",
    properties: { a: { type: "string", format: "email" } },
    required: ["a"],
  });
});

test("[OAPI-5] the description for developers replaces the one for models, which is the fallback", () => {
  expect(describe({ description: "model", external_api_description: "developer" }).description).toBe("developer");
  expect(describe({ description: "model" }).description).toBe("model");
  expect(describe({ description: "model", external_api_description: "" }).description).toBe("model");
});

test("[OAPI-6] the response schema is told, and nothing where there is none", () => {
  const response = { type: "object", properties: { success: { type: "boolean" } } };
  expect(JSON.parse(describe({ external_api_response: response }).responseJson)).toEqual(response);
  expect(describe({})).toMatchObject({ responseJson: "", parametersJson: "", argsFixtureJson: "" });
});

test("[OAPI] an example holds declared arguments only", () => {
  const args_fixture = { a: "x@y.test", secret_note: "internal", _api_key: { id: "1" }, toString: 1 };
  expect(describe({ parameters: SCHEMA, args_fixture }).argsFixtureJson).toBe('{"a":"x@y.test"}');
  expect(describe({ args_fixture }).argsFixtureJson).toBe("{}");
});

test("[RO-7] a tool is told to write only if its flag is exactly true", () => {
  expect(describe({ external_api_write: true }).readOnly).toBe(false);
  for (const flag of [1, "true", "yes", undefined]) expect(describe({ external_api_write: flag }).readOnly).toBe(true);
});
