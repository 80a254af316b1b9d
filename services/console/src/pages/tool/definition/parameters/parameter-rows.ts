import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

export const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;

/** A parameter, as a row of the form shows it. */
export interface ParameterRow {
  name: string;
  type: string;
  isRequired: boolean;
  description: string;
  /** Keywords that the form has no field for; they stay. */
  rest: JsonObject;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The rows of a schema, or undefined when the form could not show all that it says. */
export function rowsOf(schema: JsonValue | undefined): ParameterRow[] | undefined {
  if (schema === undefined) return [];
  if (!isObject(schema) || (schema.type ?? "object") !== "object") return undefined;
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return undefined;
  if (!required.every((name) => typeof name === "string" && Object.hasOwn(properties, name))) return undefined;
  const rows: ParameterRow[] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) return undefined;
    const { type, description = "", ...rest } = property;
    if (typeof type !== "string" || typeof description !== "string") return undefined;
    if (!TYPES.some((known) => known === type)) return undefined;
    rows.push({ name, type, description, rest, isRequired: required.includes(name) });
  }
  return rows;
}

/** Whether each row has a name of its own, without which some would be lost in a schema. */
export function areNamed(rows: readonly ParameterRow[]): boolean {
  const names = new Set(rows.map(({ name }) => name));
  return names.size === rows.length && !names.has("");
}

/** A schema with these rows; what else the schema before said stays. Without rows and anything else there is none. */
export function schemaOf(rows: readonly ParameterRow[], before: JsonValue | undefined): JsonObject | undefined {
  const { type: _, properties: __, required: ___, ...kept } = isObject(before) ? before : {};
  if (rows.length === 0 && Object.keys(kept).length === 0) return undefined;
  const properties = rows.map(({ name, type, description, rest }): [string, JsonObject] => [
    name,
    { type, ...(description !== "" && { description }), ...rest },
  ]);
  const required = rows.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...kept,
  };
}
