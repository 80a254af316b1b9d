import { type JsonObject, ownValue } from "@toolgate/json/json-object";
import { sqlTokens } from "./sql-tokens.ts";

/**
 * Turns `:name` into `$1`, `$2`, … with the values in that order; a name that occurs twice keeps its number. Quotes,
 * comments, casts and array slices stay as they are. A missing argument is null, an object is sent as JSON text.
 */
export function bindNamedParameters(sql: string, args: JsonObject): { text: string; values: unknown[] } {
  const numbers = new Map<string, number>();
  const values: unknown[] = [];
  let text = "";
  for (const { kind, start, end } of sqlTokens(sql)) {
    if (kind !== "parameter") {
      text += sql.slice(start, end);
      continue;
    }
    const name = sql.slice(start + 1, end);
    const number = numbers.get(name) ?? values.push(boundValue(ownValue(args, name)));
    numbers.set(name, number);
    text += `$${number}`;
  }
  return { text, values };
}

/** Whether the text is one statement: every quote ends, and nothing but white space follows the first semicolon. */
export function isSingleStatement(sql: string): boolean {
  const kinds = [...sqlTokens(sql)].map(({ kind }) => kind).filter((kind) => kind !== "gap");
  const end = kinds.indexOf("semicolon");
  const statement = end === -1 ? kinds : kinds.slice(0, end);
  const rest = kinds.slice(statement.length);
  return statement.length > 0 && !kinds.includes("open") && rest.every((kind) => kind === "semicolon");
}

function boundValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null)) return value;
  return JSON.stringify(value);
}
