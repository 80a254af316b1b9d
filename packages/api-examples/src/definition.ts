import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";

/** Arguments that the server sets. */
const RESERVED_NAMES: ReadonlySet<unknown> = new Set(["_api_key", "_webhook", "_client"]);

/** What a tool is, as far as its callers can tell: a prepared query, a GET of another service, or anything else. */
export type ToolBody = "query" | "get" | "other";

/**
 * [OAPI-4] [OAPI-5] [OAPI-6] What callers by key learn about a tool, from its saved definition. The texts are JSON, and
 * empty if there is nothing to say.
 */
export function describe(saved: unknown, body: ToolBody) {
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

/** What a whole saved definition is. */
export function bodyOf(definition: JsonObject): ToolBody {
  if (ownValue(definition, "query") !== undefined) return "query";
  return objectIn(definition, "api")?.method === "GET" ? "get" : "other";
}

/** [TOOL-44] Reserved arguments are set by the server; a schema cannot declare them for callers. */
export function withoutReservedNames(schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  const shown = { ...schema };
  if (isJsonObject(properties)) {
    shown.properties = Object.fromEntries(Object.entries(properties).filter(([name]) => !RESERVED_NAMES.has(name)));
  }
  if (Array.isArray(required)) shown.required = required.filter((name) => !RESERVED_NAMES.has(name));
  return shown;
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
