import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";

// Not openapi-sampler: it leaves out required members without a schema and ignores multipleOf, so that its examples are
// often refused, and makes strings of any minLength, so that its size has no bound.

const MAX_LEVELS = 12;
const MAX_ITEMS = 20;
const MAX_CHARACTERS = 500;
const FILLER = "example";
/** No example is made for schemas with these. */
const UNSUPPORTED =
  "$ref not if allOf contains prefixItems minProperties propertyNames patternProperties dependentSchemas".split(" ");
const FORMATS = new Map<unknown, string>([
  ["date", "2026-01-31"],
  ["date-time", "2026-01-31T12:00:00Z"],
  ["time", "12:00:00Z"],
  ["email", "ada@example.com"],
  ["uri", "https://example.com/"],
  ["url", "https://example.com/"],
  ["hostname", "example.com"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
]);

/** [BLD-6] A value that passes the schema. Undefined when none is found: no example is better than a wrong one. */
export function exampleOf(schema: unknown, level = 1): unknown {
  if (!isJsonObject(schema)) return schema === false ? undefined : FILLER;
  if (level > MAX_LEVELS || UNSUPPORTED.some((keyword) => schema[keyword] !== undefined)) return undefined;
  if (schema.const !== undefined) return schema.const;
  for (const values of [schema.enum, schema.examples]) {
    if (Array.isArray(values) && values.length > 0) return values[0];
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) {
    const isPlainChoice = schema.type === undefined && schema.properties === undefined;
    return isPlainChoice ? exampleOf(choices[0], level + 1) : undefined;
  }
  switch (typeOf(schema)) {
    case "object":
      return objectExample(schema, level);
    case "array":
      return arrayExample(schema, level);
    case "integer":
      return numberExample(schema, Number.isInteger);
    case "number":
      return numberExample(schema, Number.isFinite);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textExample(schema);
  }
}

function typeOf(schema: JsonObject): unknown {
  const type = Array.isArray(schema.type) ? (schema.type.find((one) => one !== "null") ?? "null") : schema.type;
  if (type !== undefined) return type;
  if (schema.properties !== undefined) return "object";
  if (schema.items !== undefined) return "array";
  return schema.minimum !== undefined || schema.maximum !== undefined ? "number" : "string";
}

/** Required members first. */
function objectExample(schema: JsonObject, level: number): JsonObject | undefined {
  const { properties = {}, required: requiredNames = [] } = schema;
  const declared = properties as JsonObject;
  const required = new Set(requiredNames as string[]);
  const entries: [string, unknown][] = [];
  for (const name of new Set([...required, ...Object.keys(declared)])) {
    const value = Object.hasOwn(declared, name) ? exampleOf(declared[name], level + 1) : FILLER;
    if (value !== undefined) entries.push([name, value]);
    else if (required.has(name)) return undefined;
  }
  return Object.fromEntries(entries);
}

/** Only texts and numbers are repeated: nested lists would grow with each level. */
function arrayExample(schema: JsonObject, level: number): unknown[] | undefined {
  const { minItems = 0, maxItems = 1 } = schema as Record<string, number>;
  const empty = minItems === 0 ? [] : undefined;
  const length = Math.max(1, minItems);
  const item = maxItems === 0 ? undefined : exampleOf(schema.items ?? {}, level + 1);
  if (item === undefined) return empty;
  const isRepeatable = schema.uniqueItems !== true && typeof item !== "object" && length <= MAX_ITEMS;
  return length === 1 || isRepeatable ? Array(length).fill(item) : undefined;
}

function numberExample(schema: JsonObject, isAllowed: (value: number) => boolean): number | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<string, number>;
  const low = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity);
  const high = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity);
  const step = multipleOf ?? 1;
  const starts = [minimum ?? 1, 1, 0, low + step, high, high - step, (low + high) / 2].filter(Number.isFinite);
  const candidates = starts.flatMap((start) => [start, Math.ceil(start / step) * step]);
  return candidates.find(
    (value) =>
      value >= low &&
      value <= high &&
      value !== exclusiveMinimum &&
      value !== exclusiveMaximum &&
      isAllowed(value) &&
      (multipleOf === undefined || Number.isInteger(value / multipleOf)),
  );
}

function textExample(schema: JsonObject): string | undefined {
  const { minLength: min = 0, maxLength: max = Infinity } = schema as Record<string, number>;
  const { pattern, format } = schema;
  if (pattern !== undefined) return undefined;
  const formatted = FORMATS.get(format);
  if (formatted !== undefined && formatted.length >= min && formatted.length <= max) return formatted;
  if (min > MAX_CHARACTERS) return undefined;
  const length = Math.min(Math.max(min, FILLER.length), max);
  return FILLER.repeat(Math.ceil(length / FILLER.length)).slice(0, length);
}
