import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";

/** How a programming language writes the values of JSON. */
export interface LiteralStyle {
  text: (text: string) => string;
  /** The name of a member, with what separates it from the value. */
  member: (name: string) => string;
  true: string;
  false: string;
  null: string;
  /** What begins and ends this object. */
  object: (object: JsonObject) => readonly [open: string, close: string];
}

const MAX_LINE = 60;
const STEP = "    ";

/** A value as source code: on one line if it is short. `indent`: of the line that it begins on. */
export function literal(value: unknown, style: LiteralStyle, indent = "", step = STEP): string {
  if (typeof value === "string") return style.text(value);
  if (value === true || value === false || value === null) return style[`${value}`];
  if (!Array.isArray(value) && !isJsonObject(value)) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : style.object(value);
  const inner = indent + step;
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, style, inner, step))
    : Object.entries(value).map(([name, member]) => style.member(name) + literal(member, style, inner, step));
  if (items.length === 0) return open + close;
  const line = items.join(", ");
  if (line.length <= MAX_LINE && !line.includes("\n")) {
    const blank = open.endsWith("{") ? " " : "";
    return open + blank + line + blank + close;
  }
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}
