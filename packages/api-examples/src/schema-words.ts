import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";

/** An argument of a tool, for people. */
export interface ArgumentWords {
  name: string;
  /** Such as "integer, 1 to 10". */
  type: string;
  isRequired: boolean;
  about: string;
}

const MAX_LISTED = 12;

/** The arguments that a schema declares, required ones first. */
export function argumentsInWords({ properties, required }: JsonObject): ArgumentWords[] {
  const names = new Set(Array.isArray(required) ? required : []);
  const words = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    type: schemaWords(schema),
    isRequired: names.has(name),
    about: isJsonObject(schema) && typeof schema.description === "string" ? schema.description : "",
  }));
  return words.sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

/** What a value must be, as far as a line can say it. */
export function schemaWords(schema: unknown): string {
  if (!isJsonObject(schema)) return "any value";
  if (schema.const !== undefined) return `always ${JSON.stringify(schema.const)}`;
  if (Array.isArray(schema.enum)) return choice(schema.enum);
  return [typeWords(schema), ...boundWords(schema)].join(", ");
}

function choice(values: unknown[]): string {
  const listed = values.slice(0, MAX_LISTED).map((value) => JSON.stringify(value));
  const more = values.length > MAX_LISTED ? ` and ${values.length - MAX_LISTED} more` : "";
  return `${listed.length === 1 ? "" : "one of "}${listed.join(", ")}${more}`;
}

function typeWords({ type, items, format }: JsonObject): string {
  const types = [type ?? "any value"].flat().map((one) => (one === "array" ? listWords(items) : String(one)));
  const words = types.join(" or ");
  return typeof format === "string" && types.includes("string") ? `${words} (${format})` : words;
}

function listWords(items: unknown): string {
  return isJsonObject(items) && items.type !== undefined ? `list of ${typeWords(items)}` : "list";
}

function boundWords(schema: JsonObject): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema;
  return [
    range(minimum, maximum, ""),
    range(minLength, maxLength, "character"),
    range(minItems, maxItems, "item"),
    pattern === undefined ? "" : `matches ${pattern}`,
  ].filter((words) => words !== "");
}

function range(low: unknown, high: unknown, unit: string): string {
  if (low === undefined && high === undefined) return "";
  const counted = unit === "" ? "" : ` ${unit}${(high ?? low) === 1 ? "" : "s"}`;
  if (low === undefined) return `at most ${high}${counted}`;
  return high === undefined ? `at least ${low}${counted}` : `${low} to ${high}${counted}`;
}
