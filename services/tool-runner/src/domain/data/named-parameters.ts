import { type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { sqlTokens } from "./sql-tokens.ts";

/** A statement with `$1`, `$2`, … and the names of these parameters in that order. */
export interface NumberedSql {
  text: string;
  names: readonly string[];
}

/**
 * Turns `:name` into `$1`, `$2`, …; a name that occurs twice keeps its number. Quotes, comments, casts and array slices stay
 * as they are. Takes milliseconds for long SQL, so its result is kept.
 */
export function numberParameters(sql: string): NumberedSql {
  const numbers = new Map<string, number>();
  const parts: string[] = [];
  let copiedTo = 0;
  for (const { kind, start, end } of sqlTokens(sql)) {
    if (kind !== "parameter") continue;
    const name = sql.slice(start + 1, end);
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    parts.push(sql.slice(copiedTo, start), `$${number}`);
    copiedTo = end;
  }
  parts.push(sql.slice(copiedTo));
  return { text: parts.join(""), names: [...numbers.keys()] };
}

/** The arguments of these names. A missing one is null, an object is JSON text; a list depends on the parameter's type. */
export function argumentValues(names: readonly string[], args: JsonObject): unknown[] {
  return names.map((name) => boundValue(ownValue(args, name)));
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
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value ?? null;
  return JSON.stringify(value);
}
