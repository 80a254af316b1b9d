import type { JsonObject } from "@toolgate/rules/json-object";

/** The numbers that a tool can return: generators of clients take a type without a format for one of 32 bits. */
const FORMATS = new Map<unknown, string>([
  ["integer", "int64"],
  ["number", "double"],
]);

/** Adds the format of a number, which may also be null, unless the schema has one. */
export function withNumberFormat(schema: JsonObject): JsonObject {
  const [type, ...others] = [schema.type].flat().filter((one) => one !== "null");
  const format = others.length === 0 && schema.format === undefined ? FORMATS.get(type) : undefined;
  return format === undefined ? schema : { ...schema, format };
}
