export type JsonObject = { [name: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Copy = (value: unknown, place: Place) => unknown;
/** Where a schema will stand, and which definitions it brings along. */
type Place = { base: string; definitions: ReadonlySet<string> };

const anything: Copy = (value) => value;
const text: Copy = (value) => (typeof value === "string" ? value : undefined);
const flag: Copy = (value) => (typeof value === "boolean" ? value : undefined);
const number: Copy = (value) => (typeof value === "number" ? value : undefined);
const count: Copy = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined);
const list: Copy = (value) => (Array.isArray(value) ? value : undefined);
const texts: Copy = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
const schemas: Copy = (value, place) =>
  Array.isArray(value) && value.length > 0 ? value.map((item) => copySchema(item, place)) : undefined;
const schemaMap: Copy = (value, place) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, copySchema(schema, place)]))
    : undefined;

/** JSON Schema 2020-12 as far as descriptions carry it. What is not listed, or is no value for its keyword, is left out. */
const KEYWORDS: Record<string, Copy> = {
  type: (value) => (Array.isArray(value) && value.length > 0 ? texts(value, NOWHERE) : text(value, NOWHERE)),
  enum: list,
  const: anything,
  default: anything,
  examples: list,
  title: text,
  description: text,
  format: text,
  pattern: text,
  contentEncoding: text,
  contentMediaType: text,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  uniqueItems: flag,
  multipleOf: (value) => (typeof value === "number" && value > 0 ? value : undefined),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minContains: count,
  maxContains: count,
  minProperties: count,
  maxProperties: count,
  required: texts,
  properties: schemaMap,
  patternProperties: schemaMap,
  dependentSchemas: schemaMap,
  $defs: schemaMap,
  prefixItems: schemas,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  items: copyItem,
  contains: copySchema,
  additionalProperties: copySchema,
  unevaluatedProperties: copySchema,
  unevaluatedItems: copySchema,
  propertyNames: copySchema,
  not: copySchema,
  if: copySchema,
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name.
  then: copySchema,
  else: copySchema,
};
const NOWHERE: Place = { base: "#", definitions: new Set() };

/** Keywords of earlier drafts under their present names. */
const RENAMED: Record<string, string> = { definitions: "$defs" };
const DEFINITION = /^#\/(?:definitions|\$defs)\/([^/]+)$/;

/**
 * A workspace's schema as it can stand anywhere in another document: `base` is the JSON pointer of its new place. Its
 * references to itself and its own definitions follow; those to anywhere else are dropped, which lets any value pass.
 */
export function portableSchema(schema: unknown, base: string): JsonObject {
  const source = isJsonObject(schema) ? schema : {};
  const named = [source.definitions, source.$defs].filter(isJsonObject).flatMap((found) => Object.keys(found));
  return copyObject(source, { base, definitions: new Set(named) });
}

function copySchema(schema: unknown, place: Place): unknown {
  if (typeof schema === "boolean") return schema;
  return isJsonObject(schema) ? copyObject(schema, place) : true;
}

function copyItem(items: unknown, place: Place): unknown {
  return Array.isArray(items) ? undefined : copySchema(items, place);
}

function copyObject(source: JsonObject, place: Place): JsonObject {
  const entries: [string, unknown][] = [];
  for (const [written, value] of Object.entries(source)) {
    const keyword = RENAMED[written] ?? written;
    const copied = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword]?.(value, place) : undefined;
    if (copied !== undefined) entries.push([keyword, copied]);
  }
  // The tuples of earlier drafts.
  if (Array.isArray(source.items) && source.items.length > 0)
    entries.push(["prefixItems", schemas(source.items, place)]);
  const reference = typeof source.$ref === "string" ? movedReference(source.$ref, place) : undefined;
  if (reference !== undefined) entries.push(["$ref", reference]);
  return Object.fromEntries(entries);
}

function movedReference(reference: string, { base, definitions }: Place): string | undefined {
  if (reference === "#") return base;
  const name = DEFINITION.exec(reference)?.[1];
  if (name === undefined) return undefined;
  return definitions.has(name.replaceAll("~1", "/").replaceAll("~0", "~")) ? `${base}/$defs/${name}` : undefined;
}
