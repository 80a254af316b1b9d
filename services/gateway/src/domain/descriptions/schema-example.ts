import { isJsonObject, type JsonObject } from "@toolgate/json/json-object";
import { patternExample } from "./pattern-example.ts";

// Not openapi-sampler: it leaves out required members without a schema, ignores multipleOf and most of patterns, and
// makes strings of any minLength, so that its examples are often refused and its size has no bound.

const MAX_LEVELS = 12;
const MAX_ITEMS = 20;
const MAX_FILLED_CHARACTERS = 500;
const FILLER = "example";
/** No example is made for schemas with these. */
const UNSUPPORTED = ["$ref", "not", "if", "allOf", "contains", "prefixItems", "minProperties", "propertyNames"];
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

/** [BLD-6] A value that passes the schema; undefined when none is found. */
export function exampleOf(schema: unknown, level = 1): unknown {
  if (!isJsonObject(schema)) return schema === false ? undefined : FILLER;
  if (level > MAX_LEVELS || UNSUPPORTED.some((keyword) => schema[keyword] !== undefined)) return undefined;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return isPlainChoice(schema) ? exampleOf(choices[0], level + 1) : undefined;
  switch (typeOf(schema)) {
    case "object":
      return objectExample(schema, level);
    case "array":
      return arrayExample(schema, level);
    case "integer":
      return numberExample(schema, true);
    case "number":
      return numberExample(schema, false);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textExample(schema);
  }
}

/** Whether the schema has no keyword but the choice. */
function isPlainChoice({ type, properties }: JsonObject): boolean {
  return type === undefined && properties === undefined;
}

function typeOf(schema: JsonObject): unknown {
  const type = Array.isArray(schema.type) ? (schema.type.find((one) => one !== "null") ?? "null") : schema.type;
  if (type !== undefined) return type;
  if (schema.properties !== undefined) return "object";
  if (schema.items !== undefined) return "array";
  return schema.minimum !== undefined || schema.maximum !== undefined ? "number" : "string";
}

/** Required members first. */
function objectExample({ properties = {}, required = [] }: JsonObject, level: number): JsonObject | undefined {
  const declared = properties as JsonObject;
  const names = new Set([...(required as string[]), ...Object.keys(declared)]);
  const entries: [string, unknown][] = [];
  for (const name of names) {
    const value = Object.hasOwn(declared, name) ? exampleOf(declared[name], level + 1) : FILLER;
    if (value !== undefined) entries.push([name, value]);
    else if ((required as string[]).includes(name)) return undefined;
  }
  return Object.fromEntries(entries);
}

function arrayExample(schema: JsonObject, level: number): unknown[] | undefined {
  const { minItems = 0, maxItems = 1 } = schema as Record<string, number>;
  if (maxItems === 0) return minItems === 0 ? [] : undefined;
  const length = Math.max(1, minItems);
  if (length > MAX_ITEMS || (length > 1 && schema.uniqueItems === true)) return undefined;
  const item = exampleOf(schema.items ?? {}, level + 1);
  if (item === undefined) return minItems === 0 ? [] : undefined;
  return Array(length).fill(item);
}

function numberExample(schema: JsonObject, whole: boolean): number | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<string, number>;
  const low = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity);
  const high = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity);
  const step = multipleOf ?? 1;
  const starts = [minimum ?? 1, 1, 0, low + step, high, high - step, (low + high) / 2].filter(Number.isFinite);
  const candidates = starts.flatMap((start) => [
    start,
    Math.ceil(start / step) * step,
    Math.floor(start / step) * step,
  ]);
  return candidates.find(
    (value) =>
      value >= low &&
      value <= high &&
      value !== exclusiveMinimum &&
      value !== exclusiveMaximum &&
      (!whole || Number.isInteger(value)) &&
      (multipleOf === undefined || Number.isInteger(value / multipleOf)),
  );
}

function textExample(schema: JsonObject): string | undefined {
  const { minLength = 0, maxLength = Infinity } = schema as Record<string, number>;
  const fits = (text: string | undefined) => {
    const length = text === undefined ? -1 : [...text].length;
    return length >= minLength && length <= maxLength;
  };
  const { pattern, format } = schema;
  if (typeof pattern === "string") return [1, 0, minLength].map((extra) => patternExample(pattern, extra)).find(fits);
  const formatted = FORMATS.get(format);
  if (fits(formatted)) return formatted;
  if (minLength > MAX_FILLED_CHARACTERS) return undefined;
  const length = Math.min(Math.max(minLength, FILLER.length), maxLength);
  return FILLER.repeat(Math.ceil(length / FILLER.length)).slice(0, length);
}
