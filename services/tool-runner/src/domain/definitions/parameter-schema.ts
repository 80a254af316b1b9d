import { withoutReservedNames } from "@toolgate/api-examples/definition";
import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import type { Report } from "./definition.ts";
import { patternViolation } from "./pattern.ts";

const MAX_SCHEMAS = 1_000;
const MAX_SCHEMA_LEVELS = 20;
const MAX_ENUM_VALUES = 500;
const MAX_REQUIRED_NAMES = 1_000;
/** Of the compiled patterns of one schema. They are compiled again whenever the tool is loaded. */
const MAX_PATTERN_STEPS = 20_000;
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** [TOOL] The keywords that are enforced, each with a check of its value. All others are ignored. */
const KEYWORDS: Record<string, (value: unknown, reading: Reading) => string | undefined> = {
  type: (value) => {
    const types = Array.isArray(value) ? value : [value];
    const known = types.length > 0 && types.every((type) => TYPES.has(type)) && new Set(types).size === types.length;
    return known ? undefined : `must be one or more of ${[...TYPES].join(", ")}`;
  },
  required: (value) =>
    Array.isArray(value) && value.length <= MAX_REQUIRED_NAMES && value.every(isUsableName)
      ? undefined
      : `must be a list of at most ${MAX_REQUIRED_NAMES} names`,
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= MAX_ENUM_VALUES
      ? undefined
      : `must be a list of 1 to ${MAX_ENUM_VALUES} values`,
  minLength: countViolation,
  maxLength: countViolation,
  maxItems: countViolation,
  minimum: numberViolation,
  maximum: numberViolation,
  pattern: (value, reading) => (typeof value === "string" ? readPattern(value, reading) : "must be a string"),
};

/**
 * Reports what is wrong with the schema of a tool's parameters, and returns a schema with only the enforced part. The
 * reserved names are left out.
 */
export function readParameterSchema(schema: unknown, report: Report): JsonObject {
  if (schema === undefined) return {};
  const enforced = readSchema(schema, "parameters", 1, { schemas: 0, patternSteps: 0, report });
  if (isJsonObject(schema) && ![ownValue(schema, "type") ?? "object"].flat().includes("object")) {
    report("parameters.type", "the arguments are an object");
  }
  return withoutReservedNames(enforced);
}

/** The arguments that callers may set. `type` is empty when the schema names none or several. */
export function declaredArguments(schema: JsonObject | undefined): { name: string; type: string }[] {
  const properties = schema && withoutReservedNames(schema).properties;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, property]) => {
    const [type, ...more] = isJsonObject(property) ? [ownValue(property, "type")].flat() : [];
    return { name, type: typeof type === "string" && more.length === 0 ? type : "" };
  });
}

type Reading = { schemas: number; patternSteps: number; report: Report };

function readSchema(schema: unknown, path: string, level: number, reading: Reading): JsonObject {
  if (typeof schema === "boolean" && level > 1) return {};
  if (!isJsonObject(schema)) return reading.report(path, "must be a JSON Schema") ?? {};
  reading.schemas += 1;
  if (level > MAX_SCHEMA_LEVELS || reading.schemas > MAX_SCHEMAS) {
    return reading.report(path, `at most ${MAX_SCHEMAS} schemas in ${MAX_SCHEMA_LEVELS} levels`) ?? {};
  }
  const enforced: JsonObject = {};
  for (const [keyword, violationOf] of Object.entries(KEYWORDS)) {
    const value = ownValue(schema, keyword);
    if (value === undefined) continue;
    const message = violationOf(value, reading);
    if (message === undefined) enforced[keyword] = value;
    else reading.report(`${path}.${keyword}`, message);
  }
  const properties = ownValue(schema, "properties");
  if (properties !== undefined) enforced.properties = readProperties(properties, `${path}.properties`, level, reading);
  const items = ownValue(schema, "items");
  if (items !== undefined && !Array.isArray(items)) {
    const item = readSchema(items, `${path}.items`, level + 1, reading);
    if (Object.keys(item).length > 0) enforced.items = item;
  }
  return enforced;
}

function readProperties(properties: unknown, path: string, level: number, reading: Reading): JsonObject {
  const enforced: JsonObject = {};
  if (!isJsonObject(properties)) return reading.report(path, "must be an object") ?? enforced;
  for (const [name, property] of Object.entries(properties)) {
    if (reading.schemas > MAX_SCHEMAS) break;
    if (isUsableName(name)) enforced[name] = readSchema(property, `${path}.${name}`, level + 1, reading);
    else reading.report(`${path}.${name}`, "cannot be the name of a parameter");
  }
  return enforced;
}

/** Once there is a violation, the other patterns are not compiled, since each may take long. */
function readPattern(pattern: string, reading: Reading): string | undefined {
  const tooMany = `the patterns of a schema may have ${MAX_PATTERN_STEPS} steps together`;
  if (reading.patternSteps > MAX_PATTERN_STEPS) return tooMany;
  const message = patternViolation(pattern, (steps) => {
    reading.patternSteps += steps;
  });
  if (message !== undefined) reading.patternSteps = Number.POSITIVE_INFINITY;
  return message ?? (reading.patternSteps > MAX_PATTERN_STEPS ? tooMany : undefined);
}

function isUsableName(name: unknown): boolean {
  return typeof name === "string" && name !== "__proto__";
}

function countViolation(value: unknown): string | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : "must be an integer, 0 or more";
}

function numberViolation(value: unknown): string | undefined {
  return Number.isFinite(value) ? undefined : "must be a number";
}
