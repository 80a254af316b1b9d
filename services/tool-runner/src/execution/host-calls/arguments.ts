import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { ToolError } from "../errors.ts";

/** An argument of a host function that must be a string. */
export function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw new ToolError("INVALID_ARGUMENT", `${name} must be a string`);
  return value;
}

export function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, name);
}

export function object(value: unknown, name: string): JsonObject {
  if (!isJsonObject(value)) throw new ToolError("INVALID_ARGUMENT", `${name} must be an object`);
  return value;
}
