import { isJsonObject, ownValue } from "@toolgate/rules/json-object";

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$/;
/** A double keeps every decimal number of so many digits. */
const EXACT_DIGITS = 15;

/**
 * A value of a form, which has only texts, as its schema declares it: a text that stands for an integer, a number or a
 * boolean without loss is converted, also inside lists and objects; an empty field is missing unless it is required; a
 * single value is a list where the schema wants one. Any other text stays as it is.
 */
export function readFormValue(value: unknown, schema: unknown): unknown {
  if (!isJsonObject(schema)) return value;
  const types = [ownValue(schema, "type")].flat();
  const isSingle = types.includes("array") && !types.includes("string");
  if (typeof value === "string") return isSingle ? readFormValue([value], schema) : readText(value, types);
  if (Array.isArray(value)) return value.map((item) => readFormValue(item, ownValue(schema, "items")));
  if (!isJsonObject(value)) return value;
  const properties = ownValue(schema, "properties");
  if (!isJsonObject(properties)) return value;
  const required = [ownValue(schema, "required")].flat();
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== "" || required.includes(name) || !Object.hasOwn(properties, name))
      .map(([name, member]) => [name, readFormValue(member, ownValue(properties, name))]),
  );
}

function readText(text: string, types: readonly unknown[]): unknown {
  if (types.includes("string")) return text;
  // `on` is what a browser sends for a checkbox.
  if (types.includes("boolean") && /^(?:true|false|on)$/.test(text)) return text !== "false";
  if (types.includes("integer") && INTEGER.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  return types.includes("number") && isExactNumber(text) ? Number(text) : text;
}

function isExactNumber(text: string): boolean {
  if (!NUMBER.test(text)) return false;
  const value = Number(text);
  if (String(value) === text) return true;
  const [mantissa = ""] = text.toLowerCase().split("e");
  const digits = mantissa.replace(/[-.]/g, "").replace(/^0+/, "");
  // Neither too large for a double nor so small that it became 0.
  return digits.length <= EXACT_DIGITS && Number.isFinite(value) && (value !== 0 || digits === "");
}
