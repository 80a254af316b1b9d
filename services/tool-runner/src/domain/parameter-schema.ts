import type { Fault } from "./fault.ts";
import { isJsonObject, type JsonObject, ownValue } from "./json-object.ts";
import { patternFault } from "./pattern.ts";

/** Arguments that the server sets; a schema cannot declare them for callers. [TOOL-44] */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["_api_key", "_webhook", "_client"]);

const MAX_SCHEMA_NODES = 1_000;
const MAX_SCHEMA_LEVELS = 20;
const MAX_ENUM_VALUES = 500;
const MAX_REQUIRED_NAMES = 1_000;

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** The keywords that are enforced, with what may be wrong with their values. All others are let pass. [TOOL] */
const KEYWORDS: Record<string, (value: unknown) => string | undefined> = {
  type: (value) => {
    const types = Array.isArray(value) ? value : [value];
    const known = types.length > 0 && types.every((type) => TYPES.has(type)) && new Set(types).size === types.length;
    return known ? undefined : `must be one or several of ${[...TYPES].join(", ")}`;
  },
  required: (value) =>
    Array.isArray(value) && value.length <= MAX_REQUIRED_NAMES && value.every(isUsableName)
      ? undefined
      : `must be a list of at most ${MAX_REQUIRED_NAMES} names`,
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= MAX_ENUM_VALUES
      ? undefined
      : `must be a list of 1 to ${MAX_ENUM_VALUES} values`,
  minLength: countFault,
  maxLength: countFault,
  maxItems: countFault,
  minimum: numberFault,
  maximum: numberFault,
  pattern: (value) => (typeof value === "string" ? patternFault(value) : "must be a string"),
};

/**
 * What of a JSON Schema is enforced, as a schema of its own, and what is wrong with it. Reserved names are left out of
 * the outermost level.
 */
export function readParameterSchema(schema: unknown): { enforced: JsonObject; faults: Fault[] } {
  const reading: Reading = { faults: [], nodes: 0 };
  if (schema === undefined) return { enforced: {}, faults: [] };
  const enforced = readSchema(schema, "parameters", 1, reading);
  if (isJsonObject(schema) && !describesObject(schema)) {
    reading.faults.push({ path: "parameters.type", message: "the arguments are an object" });
  }
  return { enforced: withoutReserved(enforced), faults: reading.faults };
}

type Reading = { faults: Fault[]; nodes: number };

function readSchema(schema: unknown, path: string, level: number, reading: Reading): JsonObject {
  if (typeof schema === "boolean" && level > 1) return {};
  if (!isJsonObject(schema)) {
    reading.faults.push({ path, message: "must be a JSON Schema" });
    return {};
  }
  reading.nodes += 1;
  if (level > MAX_SCHEMA_LEVELS || reading.nodes > MAX_SCHEMA_NODES) {
    reading.faults.push({ path, message: `at most ${MAX_SCHEMA_NODES} schemas in ${MAX_SCHEMA_LEVELS} levels` });
    return {};
  }
  const enforced = readKeywords(schema, path, reading.faults);
  const properties = ownValue(schema, "properties");
  if (properties !== undefined) enforced.properties = readProperties(properties, path, level, reading);
  const items = ownValue(schema, "items");
  if (items !== undefined && !Array.isArray(items)) {
    const item = readSchema(items, `${path}.items`, level + 1, reading);
    if (Object.keys(item).length > 0) enforced.items = item;
  }
  return enforced;
}

function readProperties(properties: unknown, path: string, level: number, reading: Reading): JsonObject {
  const enforced: JsonObject = {};
  if (!isJsonObject(properties)) {
    reading.faults.push({ path: `${path}.properties`, message: "must be an object" });
    return enforced;
  }
  for (const [name, property] of Object.entries(properties)) {
    if (reading.nodes > MAX_SCHEMA_NODES) break;
    const place = `${path}.properties.${name}`;
    if (isUsableName(name)) enforced[name] = readSchema(property, place, level + 1, reading);
    else reading.faults.push({ path: place, message: "is no name for a parameter" });
  }
  return enforced;
}

function readKeywords(schema: JsonObject, path: string, faults: Fault[]): JsonObject {
  const enforced: JsonObject = {};
  for (const [keyword, faultOf] of Object.entries(KEYWORDS)) {
    const value = ownValue(schema, keyword);
    if (value === undefined) continue;
    const message = faultOf(value);
    if (message === undefined) enforced[keyword] = value;
    else faults.push({ path: `${path}.${keyword}`, message });
  }
  return enforced;
}

function describesObject(schema: JsonObject): boolean {
  const type = ownValue(schema, "type") ?? "object";
  return type === "object" || (Array.isArray(type) && type.includes("object"));
}

function withoutReserved(enforced: JsonObject): JsonObject {
  const { properties, required } = enforced;
  const kept = { ...enforced };
  if (isJsonObject(properties)) {
    kept.properties = Object.fromEntries(Object.entries(properties).filter(([name]) => !RESERVED_NAMES.has(name)));
  }
  if (Array.isArray(required)) kept.required = required.filter((name) => !RESERVED_NAMES.has(name));
  return kept;
}

function isUsableName(name: unknown): boolean {
  return typeof name === "string" && name !== "__proto__";
}

function countFault(value: unknown): string | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : "must be an integer, 0 or more";
}

function numberFault(value: unknown): string | undefined {
  return Number.isFinite(value) ? undefined : "must be a number";
}
