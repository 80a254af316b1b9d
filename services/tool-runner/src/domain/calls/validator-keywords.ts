import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt, Name } from "ajv";
import type { KnownValues } from "./known-values.ts";

/** Once a call has this many violations, the remaining items of lists are not checked. */
export const MAX_LISTED_VIOLATIONS = 100;

/** Ajv's own code looks for each declared member, whether the object has it or not. */
const MAX_LOOKED_FOR = 16;
const NUMBER_INDEX = 0;

/**
 * Replaces Ajv's keywords of which one check takes longer than reading the value. `known`: where the values of `enum` are
 * added.
 */
export function replaceSlowKeywords(ajv: Ajv, known: KnownValues): void {
  const { code: lookForEach } = ajv.getKeyword("properties") as CodeKeywordDefinition;
  for (const keyword of ["enum", "items", "properties"]) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: "enum",
    schemaType: "array",
    compile: (values: unknown[]) => {
      const allowed = new Set(values.map((value) => known.add(value)));
      return (value: unknown) => allowed.has(known.find(value));
    },
  });
  ajv.addKeyword({ keyword: "items", type: "array", schemaType: "object", code: checkItems });
  ajv.addKeyword({
    keyword: "properties",
    type: "object",
    schemaType: "object",
    code: (context) =>
      Object.keys(context.schema).length <= MAX_LOOKED_FOR ? lookForEach(context) : checkMembers(context),
  });
}

/** Ajv's own `items` reports every wrong item of a list of any length; this one stops. */
function checkItems(context: KeywordCxt): void {
  const { gen, data } = context;
  const valid = gen.name("valid");
  const length = gen.const("len", _`${data}.length`);
  gen.forRange("i", 0, length, (index) => {
    gen.if(_`${new Name("errors")} >= ${MAX_LISTED_VIOLATIONS}`, () => gen.break());
    context.subschema({ keyword: "items", dataProp: index, dataPropType: NUMBER_INDEX }, valid);
  });
}

/** Checks the members that an object has, in the order in which they are declared. */
function checkMembers(context: KeywordCxt): void {
  const { gen, data } = context;
  const properties: Record<string, object> = context.schema;
  const names = Object.keys(properties).filter((name) => Object.keys(properties[name] ?? {}).length > 0);
  if (names.length === 0) return;
  const positions = new Map(names.map((name, position) => [name, position]));
  const present = gen.scopeValue("obj", { ref: (object: object) => positionsIn(object, positions) });
  const valid = gen.name("valid");
  gen.forOf("position", _`${present}(${data})`, (position) => {
    checkMemberAt(0, names.length);

    /** Ajv's generator has no `switch`, so the code finds its way by halves. */
    function checkMemberAt(from: number, end: number): void {
      const middle = Math.floor((from + end) / 2);
      if (middle > from) {
        gen.if(
          _`${position} < ${middle}`,
          () => checkMemberAt(from, middle),
          () => checkMemberAt(middle, end),
        );
        return;
      }
      const name = names[from] ?? "";
      context.subschema({ keyword: "properties", schemaProp: name, dataProp: name }, valid);
    }
  });
}

function positionsIn(object: object, positions: ReadonlyMap<string, number>): number[] {
  const present: number[] = [];
  for (const name of Object.keys(object)) {
    const position = positions.get(name);
    if (position !== undefined) present.push(position);
  }
  return present.sort((a, b) => a - b);
}
