import { isJsonObject, type JsonObject } from "./json-schema.ts";

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const INDENT = "  ";
const MAX_LEVELS = 30;

/** The TypeScript type of the values that a schema lets pass, as far as types can tell; `unknown` beyond. */
export function schemaType(schema: unknown, indent: string, level = 1): string {
  if (schema === false) return "never";
  if (!isJsonObject(schema) || schema.$ref !== undefined || level > MAX_LEVELS) return "unknown";
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return union(choices.map((choice) => schemaType(choice, indent, level + 1)));
  if (Array.isArray(schema.allOf)) {
    return schema.allOf.map((part) => `(${schemaType(part, indent, level + 1)})`).join(" & ");
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? (schema.properties && "object")];
  return union(types.map((type) => plainType(type, schema, indent, level)));
}

function plainType(type: unknown, schema: JsonObject, indent: string, level: number): string {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
    case "number":
      return type;
    case "integer":
      return "number";
    case "array":
      return `Array<${schemaType(schema.items, indent, level + 1)}>`;
    case "object":
      return objectType(schema, indent, level);
    default:
      return "unknown";
  }
}

function objectType(schema: JsonObject, indent: string, level: number): string {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0) return "Record<string, unknown>";
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const inner = indent + INDENT;
  const members = properties.map(([name, member]) => {
    const about =
      isJsonObject(member) && typeof member.description === "string" ? comment(member.description, inner) : "";
    return `${about}${inner}${memberName(name)}${required.has(name) ? "" : "?"}: ${schemaType(member, inner, level + 1)};`;
  });
  return `{\n${members.join("\n")}\n${indent}}`;
}

/** A name as it stands in an object type. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) ? name : quoted(name);
}

/** A doc comment that its text cannot end, with a line break after it; "" for an empty text. */
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
  if (value === null || typeof value === "boolean" || typeof value === "number") return String(value);
  return "unknown";
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
