import { passesNothing } from "@toolgate/api-examples/json-schema";
import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";

// Not json-schema-to-typescript: it fails on a property named hasOwnProperty, writes wrong types for prefixItems, writes
// a tuple of any minItems, and blocks the event loop for 0.3 s on a tool with 1,000 schemas.

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const MAX_LEVELS = 30;
const PLAIN_TYPES = new Map<unknown, string>([
  ...["string", "boolean", "null", "number"].map((type) => [type, type] as const),
  ["integer", "number"],
]);

/** The TypeScript type of the values that pass a schema; wider than the schema where TypeScript cannot express it. */
export function schemaType(schema: unknown, indent: string, level = 1): string {
  if (schema === false || passesNothing(schema)) return "never";
  if (!isJsonObject(schema) || schema.$ref !== undefined || level > MAX_LEVELS) return "unknown";
  const typeOf = (part: unknown) => schemaType(part, indent, level + 1);
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return union(choices.map(typeOf));
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part) => `(${typeOf(part)})`).join(" & ");
  // Each type once: to write the items again for each repetition would take exponential time.
  const types = new Set([schema.type ?? (schema.properties ? "object" : "")].flat());
  return union(
    [...types].map((type) => {
      if (type === "object") return objectType(schema, indent, level);
      if (type === "array") return schema.prefixItems ? "Array<unknown>" : `Array<${typeOf(schema.items)}>`;
      return PLAIN_TYPES.get(type) ?? "unknown";
    }),
  );
}

function objectType({ properties = {}, required = [] }: JsonObject, indent: string, level: number): string {
  const entries = Object.entries(properties as JsonObject);
  const requiredNames = new Set(required as string[]);
  if (entries.length === 0) return "Record<string, unknown>";
  const inner = `${indent}  `;
  const members = entries.map(([name, member]) => {
    const about = isJsonObject(member) ? comment(String(member.description ?? ""), inner) : "";
    const mark = requiredNames.has(name) ? "" : "?";
    return `${about}${inner}${memberName(name)}${mark}: ${schemaType(member, inner, level + 1)};`;
  });
  return `{\n${members.join("\n")}\n${indent}}`;
}

/** A name as it is written in an object type. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) ? name : quoted(name);
}

/** A doc comment that its own text cannot end, with a line break after it; "" for an empty text. */
export function comment(text: string, indent: string): string {
  const lines = text
    .trim()
    .replaceAll("*/", "*\\/")
    .split(/\r\n|[\n\r\u2028\u2029]/);
  if (lines.length === 1) return lines[0] === "" ? "" : `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

function union(types: string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes("unknown")) return "unknown";
  return distinct.length === 0 ? "never" : distinct.join(" | ");
}

function literal(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  return typeof value === "object" && value !== null ? "unknown" : String(value);
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
