import { type JsonObject, ownValue } from "./json-object.ts";
import { sqlTokens } from "./sql-tokens.ts";

/**
 * Turns `:name` into `$1`, `$2`, … with the values in that order; a name that is used twice has one place. Quotes,
 * comments, casts and array slices stay as they are. A missing argument is null, an object goes as JSON text.
 */
export function bindNamedParameters(sql: string, args: JsonObject): { text: string; values: unknown[] } {
  const places = new Map<string, number>();
  const values: unknown[] = [];
  let text = "";
  for (const { kind, start, end } of sqlTokens(sql)) {
    if (kind !== "parameter") {
      text += sql.slice(start, end);
      continue;
    }
    const name = sql.slice(start + 1, end);
    const place = places.get(name) ?? values.push(boundValue(ownValue(args, name)));
    places.set(name, place);
    text += `$${place}`;
  }
  return { text, values };
}

/** The names of a statement's parameters, each once, in order of their first use. */
export function parameterNames(sql: string): string[] {
  const names = new Set<string>();
  for (const { kind, start, end } of sqlTokens(sql)) {
    if (kind === "parameter") names.add(sql.slice(start + 1, end));
  }
  return [...names];
}

/** Whether the text is one statement: every quote ends, and after a semicolon nothing runs. */
export function isSingleStatement(sql: string): boolean {
  let runs = false;
  let ended = false;
  for (const { kind } of sqlTokens(sql)) {
    if (kind === "open") return false;
    if (kind === "gap") continue;
    if (kind === "semicolon") ended = true;
    else if (ended) return false;
    else runs = true;
  }
  return runs;
}

function boundValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null)) return value;
  return JSON.stringify(value);
}
