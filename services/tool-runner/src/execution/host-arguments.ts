import { ToolError } from "./run-scope.ts";

/** An argument of a host function that must be a text. */
export function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw new ToolError("INVALID_ARGUMENT", `${name} must be a string`);
  return value;
}

export function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, name);
}

export function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ToolError("INVALID_ARGUMENT", `${name} must be an object`);
  }
  return value as Record<string, unknown>;
}
