import { isJsonObject, type JsonObject } from "@toolgate/json/json-object";
import { patternExample } from "./pattern-example.ts";

// Not openapi-sampler: it leaves out required members without a schema, ignores multipleOf and most of patterns, and
// makes strings of any minLength, so that its examples are often refused and its size has no bound.

const MAX_LEVELS = 12;
const MAX_ITEMS = 20;
/** Enough for each of the 1,000 schemas that the parameters of a tool may have. */
const MAX_CHARACTERS = 65_536;
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

/** A value, and about how many characters it has as JSON. */
interface Example {
  value: unknown;
  characters: number;
}

/**
 * [BLD-6] A value that passes the schema, of at most 65,536 characters as JSON; optional members for which there is no room
 * are left out. Undefined when none is found.
 */
export function exampleOf(schema: unknown): unknown {
  return exampleWithin(schema, MAX_CHARACTERS, 1)?.value;
}

/** `room`: how many characters it may have. */
function exampleWithin(schema: unknown, room: number, level: number): Example | undefined {
  if (!isJsonObject(schema)) return schema === false ? undefined : fitting(FILLER, room);
  if (level > MAX_LEVELS || UNSUPPORTED.some((keyword) => schema[keyword] !== undefined)) return undefined;
  if (schema.const !== undefined) return fitting(schema.const, room);
  if (Array.isArray(schema.enum)) return fitting(schema.enum[0], room);
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return fitting(schema.examples[0], room);
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return isPlainChoice(schema) ? exampleWithin(choices[0], room, level + 1) : undefined;
  switch (typeOf(schema)) {
    case "object":
      return objectExample(schema, room, level);
    case "array":
      return arrayExample(schema, room, level);
    case "integer":
      return fitting(numberExample(schema, true), room);
    case "number":
      return fitting(numberExample(schema, false), room);
    case "boolean":
      return fitting(true, room);
    case "null":
      return fitting(null, room);
    default:
      return fitting(textExample(schema), room);
  }
}

function fitting(value: unknown, room: number): Example | undefined {
  if (value === undefined) return undefined;
  const characters = JSON.stringify(value).length;
  return characters <= room ? { value, characters } : undefined;
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
function objectExample(schema: JsonObject, room: number, level: number): Example | undefined {
  const { properties = {}, required: requiredNames = [] } = schema;
  const declared = properties as JsonObject;
  const required = new Set(requiredNames as string[]);
  const entries: [string, unknown][] = [];
  let characters = "{}".length;
  for (const name of new Set([...required, ...Object.keys(declared)])) {
    const around = JSON.stringify(name).length + ":,".length;
    const left = room - characters - around;
    const member = Object.hasOwn(declared, name)
      ? exampleWithin(declared[name], left, level + 1)
      : fitting(FILLER, left);
    if (member) {
      entries.push([name, member.value]);
      characters += around + member.characters;
    } else if (required.has(name)) return undefined;
  }
  return characters <= room ? { value: Object.fromEntries(entries), characters } : undefined;
}

/** All items are one value, which is repeated only when it is written: nested lists would grow with each level. */
function arrayExample(schema: JsonObject, room: number, level: number): Example | undefined {
  const { minItems = 0, maxItems = 1 } = schema as Record<string, number>;
  const empty = minItems === 0 ? fitting([], room) : undefined;
  if (maxItems === 0) return empty;
  const length = Math.max(1, minItems);
  if (length > MAX_ITEMS || (length > 1 && schema.uniqueItems === true)) return undefined;
  const roomOfItem = Math.floor((room - "[]".length) / length) - ",".length;
  const item = exampleWithin(schema.items ?? {}, roomOfItem, level + 1);
  if (item === undefined) return empty;
  return { value: Array(length).fill(item.value), characters: "[]".length + length * (item.characters + ",".length) };
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
