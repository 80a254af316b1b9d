import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { withNumberFormat } from "./number-format.ts";

/** The copied value of a keyword; undefined when it is not a valid value for it. */
type Copy = (value: unknown, target: Target) => unknown;
/** Where a schema is copied to, as a JSON pointer, and the definitions that it brings along. */
type Target = {
  base: string;
  definitions: ReadonlySet<string>;
  /** The pointer to a definition. */
  refer: (name: string) => string;
  /** The definitions that were referred to. */
  used: Set<string>;
  /** Makes a copied schema clear to the readers of the document. */
  clarify: (schema: JsonObject) => JsonObject;
};

const unchanged = (schema: JsonObject) => schema;

const where =
  (isValid: (value: unknown) => boolean): Copy =>
  (value) =>
    isValid(value) ? value : undefined;
const isText = (value: unknown) => typeof value === "string";
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText);
const isType = (value: unknown) => isText(value) || (isTextList(value) && (value as unknown[]).length > 0);
const schemaList: Copy = (value, target) =>
  Array.isArray(value) && value.length > 0 ? value.map((item) => copySchema(item, target)) : undefined;
const schemaMap: Copy = (value, target) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, copySchema(schema, target)]))
    : undefined;

/** The keywords of JSON Schema 2020-12 that descriptions carry. All others are left out. */
const KEYWORDS: readonly [string, Copy][] = [
  ["const default", (value) => value],
  ["enum examples", where(Array.isArray)],
  ["title description format pattern contentEncoding contentMediaType", where(isText)],
  ["deprecated readOnly writeOnly uniqueItems", where((value) => typeof value === "boolean")],
  ["minimum maximum exclusiveMinimum exclusiveMaximum", where(Number.isFinite)],
  ["multipleOf", where((value) => typeof value === "number" && value > 0)],
  ["minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties", where(isCount)],
  ["required", where(isTextList)],
  ["type", where(isType)],
  ["properties patternProperties dependentSchemas $defs", schemaMap],
  ["prefixItems allOf anyOf oneOf", schemaList],
  ["items contains propertyNames not if then else", copySchema],
  ["additionalProperties unevaluatedProperties unevaluatedItems", copyRest],
];
const COPIES = new Map(KEYWORDS.flatMap(([names, copy]) => names.split(" ").map((name) => [name, copy] as const)));

const DEFINITION = /^#\/(?:definitions|\$defs)\/([^/]+)$/;

/**
 * A workspace's schema as it can be put anywhere into another document: `base` is the JSON pointer of its new place.
 * References to the schema itself and to its own definitions follow it. All other references are dropped, so any value
 * passes there.
 */
export function portableSchema(schema: unknown, base: string): JsonObject {
  const source = isJsonObject(schema) ? schema : {};
  const definitions = new Set(Object.keys(definitionsOf(source)));
  const refer = (name: string) => `${base}/$defs/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return copyObject(source, { base, definitions, refer, used: new Set(), clarify: unchanged });
}

/**
 * As `portableSchema`, for generators of clients: with its definitions apart, because they take `$defs` for a member, and
 * with formats of numbers. `refer` tells the pointer to each definition. Definitions that nothing refers to are left out.
 */
export function separatedSchema(
  schema: unknown,
  base: string,
  refer: (name: string) => string,
): { schema: JsonObject; definitions: [name: string, schema: unknown][] } {
  const source = isJsonObject(schema) ? schema : {};
  const all = definitionsOf(source);
  const { definitions: _, $defs: __, ...root } = source;
  const names = new Set(Object.keys(all));
  const target: Target = { base, definitions: names, refer, used: new Set(), clarify: withNumberFormat };
  const copy = copyObject(root, target);
  const definitions: [string, unknown][] = [];
  // Grows while the definitions refer to further ones.
  for (const name of target.used) definitions.push([name, copySchema(all[name], target)]);
  return { schema: copy, definitions };
}

function definitionsOf({ definitions, $defs }: JsonObject): JsonObject {
  const all: JsonObject = Object.create(null);
  return Object.assign(all, isJsonObject(definitions) && definitions, isJsonObject($defs) && $defs);
}

/** Never a boolean: MCP clients refuse a list of tools with `true` as the schema of a property, and generators stumble. */
function copySchema(schema: unknown, target: Target): JsonObject {
  if (schema === false) return { not: {} };
  return isJsonObject(schema) ? copyObject(schema, target) : {};
}

/** Where a boolean is the usual form, and understood everywhere. */
function copyRest(schema: unknown, target: Target): unknown {
  return typeof schema === "boolean" ? schema : copySchema(schema, target);
}

/** Whether no value passes a schema that `portableSchema` has written. */
export function passesNothing(schema: unknown): boolean {
  return isJsonObject(schema) && isJsonObject(schema.not) && Object.keys(schema.not).length === 0;
}

function copyObject(source: JsonObject, target: Target): JsonObject {
  const copies = Object.entries(source).map(([keyword, value]) => {
    const name = presentName(keyword, value);
    return [name, name === "$ref" ? movedReference(value, target) : COPIES.get(name)?.(value, target)] as const;
  });
  return target.clarify(Object.fromEntries(copies.filter(([, copy]) => copy !== undefined)));
}

/** Earlier drafts used `definitions`, and `items` also for tuples. */
function presentName(keyword: string, value: unknown): string {
  if (keyword === "definitions") return "$defs";
  return keyword === "items" && Array.isArray(value) ? "prefixItems" : keyword;
}

function movedReference(reference: unknown, { base, definitions, refer, used }: Target): string | undefined {
  if (reference === "#") return base;
  const name = DEFINITION.exec(String(reference))?.[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
  if (name === undefined || !definitions.has(name)) return undefined;
  used.add(name);
  return refer(name);
}
