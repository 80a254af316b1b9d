import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { withoutReservedNames } from "./parameter-schema.ts";

/**
 * [OAPI-4] [OAPI-5] [OAPI-6] What callers by key learn about a tool, from its saved definition. The texts are JSON, and
 * empty if there is nothing to say.
 */
export function describe(saved: unknown, body: "query" | "get" | "other") {
  const definition = isJsonObject(saved) ? saved : {};
  const parameters = objectIn(definition, "parameters");
  const declared = (parameters && objectIn(withoutReservedNames(parameters), "properties")) ?? {};
  const fixture = objectIn(definition, "args_fixture");
  const declaredFixture = fixture && Object.entries(fixture).filter(([name]) => Object.hasOwn(declared, name));
  const mayWrite = ownValue(definition, "external_api_write") === true;
  return {
    description: textIn(definition, "external_api_description") ?? textIn(definition, "description") ?? "",
    parametersJson: jsonOf(parameters && withoutReservedNames(parameters)),
    responseJson: jsonOf(objectIn(definition, "external_api_response")),
    argsFixtureJson: jsonOf(declaredFixture && Object.fromEntries(declaredFixture)),
    // [RO-8] [RO-9] A read-only run may still send email and call other services.
    readOnly: !mayWrite && body !== "other",
    mayWrite,
  };
}

/** What an assistant's model learns about a tool. The schema is JSON text, and empty if the tool declares no arguments. */
export function describeForModels(saved: unknown) {
  const definition = isJsonObject(saved) ? saved : {};
  const parameters = objectIn(definition, "parameters");
  return {
    description: textIn(definition, "description") ?? "",
    parametersJson: jsonOf(parameters && withoutReservedNames(parameters)),
  };
}

function objectIn(object: JsonObject, name: string): JsonObject | undefined {
  const member = ownValue(object, name);
  return isJsonObject(member) ? member : undefined;
}

function textIn(object: JsonObject, name: string): string | undefined {
  const member = ownValue(object, name);
  return typeof member === "string" && member !== "" ? member : undefined;
}

function jsonOf(object: JsonObject | undefined): string {
  return object ? JSON.stringify(object) : "";
}
