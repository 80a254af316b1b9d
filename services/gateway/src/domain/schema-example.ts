import { isJsonObject, type JsonObject } from "./json-schema.ts";
import { patternExample } from "./pattern-example.ts";

const MAX_LEVELS = 12;
const MAX_ITEMS = 20;
const FILLER = "example";
const FORMATS: Record<string, string> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  email: "ada@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "00000000-0000-4000-8000-000000000000",
};
const MAX_FILLED_CHARACTERS = 500;

/**
 * [BLD-5] [BLD-6] [BLD-7] Arguments to show for a tool: the fixture's declared ones, else values made from the schema.
 * Undefined where no values are found that the schema lets pass.
 */
export function exampleArguments(parameters: JsonObject, fixture: unknown): JsonObject | undefined {
  if (isJsonObject(fixture)) {
    const declared = isJsonObject(parameters.properties) ? parameters.properties : {};
    return Object.fromEntries(Object.entries(fixture).filter(([name]) => Object.hasOwn(declared, name)));
  }
  return exampleOf(parameters) as JsonObject | undefined;
}

/** A value that the schema lets pass; undefined when none is found. */
export function exampleOf(schema: unknown, level = 1): unknown {
  if (!isJsonObject(schema)) return schema === false ? undefined : FILLER;
  if (level > MAX_LEVELS || schema.$ref !== undefined || schema.not !== undefined || schema.if !== undefined)
    return undefined;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return exampleOf(choices[0], level + 1);
  if (schema.allOf !== undefined) return undefined;
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

function typeOf(schema: JsonObject): unknown {
  const type = Array.isArray(schema.type) ? (schema.type.find((one) => one !== "null") ?? "null") : schema.type;
  if (type !== undefined) return type;
  if (schema.properties !== undefined) return "object";
  if (schema.items !== undefined) return "array";
  return schema.minimum !== undefined || schema.maximum !== undefined ? "number" : "string";
}

/** Required members first. */
function objectExample(schema: JsonObject, level: number): JsonObject | undefined {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  const optional = Object.keys(properties).filter((name) => !required.has(name));
  const entries: [string, unknown][] = [];
  for (const name of [...required, ...optional]) {
    const value = Object.hasOwn(properties, name) ? exampleOf(properties[name], level + 1) : FILLER;
    if (value !== undefined) entries.push([name, value]);
    else if (required.has(name)) return undefined;
  }
  return Object.fromEntries(entries);
}

function arrayExample(schema: JsonObject, level: number): unknown[] | undefined {
  const { minItems = 0, maxItems = 1, items, prefixItems } = schema as Record<string, number | undefined>;
  if (prefixItems !== undefined || schema.contains !== undefined) return undefined;
  if (Number(minItems) === 0 && Number(maxItems) === 0) return [];
  const length = Math.max(1, Number(minItems));
  if (length > MAX_ITEMS || (length > 1 && schema.uniqueItems === true)) return undefined;
  const item = exampleOf(items ?? {}, level + 1);
  if (item === undefined) return Number(minItems) === 0 ? [] : undefined;
  return Array(length).fill(item);
}

function numberExample(schema: JsonObject, whole: boolean): number | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<string, number>;
  const step = multipleOf ?? 1;
  const low = minimum ?? exclusiveMinimum;
  const candidates = [minimum, 1, 0, low && Math.ceil(low / step) * step, low && (Math.floor(low / step) + 1) * step];
  candidates.push(
    step,
    maximum,
    maximum && Math.floor(maximum / step) * step,
    exclusiveMaximum && exclusiveMaximum - step,
  );
  candidates.push(low !== undefined ? (low + (maximum ?? exclusiveMaximum ?? low + 2)) / 2 : undefined);
  return candidates.find(
    (value) =>
      value !== undefined &&
      (!whole || Number.isInteger(value)) &&
      value >= (minimum ?? value) &&
      value <= (maximum ?? value) &&
      (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
      (exclusiveMaximum === undefined || value < exclusiveMaximum) &&
      (multipleOf === undefined || Number.isInteger(value / multipleOf)),
  );
}

function textExample(schema: JsonObject): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema as Record<string, number>;
  const fits = (text: string | undefined) => {
    const length = text === undefined ? -1 : [...text].length;
    return length >= minLength && length <= maxLength;
  };
  if (typeof schema.pattern === "string") {
    const { pattern } = schema;
    return [1, 0, minLength].map((extra) => patternExample(pattern, extra)).find(fits);
  }
  const format = typeof schema.format === "string" ? FORMATS[schema.format] : undefined;
  if (fits(format)) return format;
  if (minLength > MAX_FILLED_CHARACTERS) return undefined;
  const filled = FILLER.repeat(Math.ceil(minLength / FILLER.length) || 1);
  return filled.slice(0, Math.min(Math.max(minLength, FILLER.length), maxLength));
}
