import { isJsonObject, type JsonObject, ownValue } from "./json-object.ts";
import { RESERVED_NAMES } from "./parameter-schema.ts";

/** What callers by key are told about a tool; the texts are JSON, empty where there is nothing to tell. */
export type Description = {
  description: string;
  parametersJson: string;
  responseJson: string;
  argsFixtureJson: string;
  readOnly: boolean;
  mayWrite: boolean;
};

/** Bodies of tools, as far as what they can do follows from it. */
export type BodyKind = "query" | "get" | "other";

/** [OAPI-4] [OAPI-5] [OAPI-6] Describes a definition as it was saved. */
export function describe(saved: unknown, body: BodyKind): Description {
  const definition = isJsonObject(saved) ? saved : {};
  const parameters = objectIn(definition, "parameters");
  const shown = parameters && withoutReserved(parameters);
  const fixture = objectIn(definition, "args_fixture");
  const mayWrite = ownValue(definition, "external_api_write") === true;
  return {
    description: textIn(definition, "external_api_description") ?? textIn(definition, "description") ?? "",
    parametersJson: shown ? JSON.stringify(shown) : "",
    responseJson: jsonIn(definition, "external_api_response"),
    argsFixtureJson: fixture ? JSON.stringify(declaredOnly(fixture, shown)) : "",
    // [RO-8] [RO-9] Mails and calls of other services are not stopped in a read-only run.
    readOnly: !mayWrite && body !== "other",
    mayWrite,
  };
}

function withoutReserved(schema: JsonObject): JsonObject {
  const shown = { ...schema };
  const properties = objectIn(schema, "properties");
  if (properties) {
    shown.properties = Object.fromEntries(Object.entries(properties).filter(([name]) => !RESERVED_NAMES.has(name)));
  }
  if (Array.isArray(schema.required)) shown.required = schema.required.filter((name) => !RESERVED_NAMES.has(name));
  return shown;
}

function declaredOnly(fixture: JsonObject, schema: JsonObject | undefined): JsonObject {
  const declared = (schema && objectIn(schema, "properties")) ?? {};
  return Object.fromEntries(Object.entries(fixture).filter(([name]) => Object.hasOwn(declared, name)));
}

function objectIn(object: JsonObject, name: string): JsonObject | undefined {
  const member = ownValue(object, name);
  return isJsonObject(member) ? member : undefined;
}

function textIn(object: JsonObject, name: string): string | undefined {
  const member = ownValue(object, name);
  return typeof member === "string" && member !== "" ? member : undefined;
}

function jsonIn(object: JsonObject, name: string): string {
  const member = objectIn(object, name);
  return member ? JSON.stringify(member) : "";
}
