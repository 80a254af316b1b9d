import { _, Ajv, type ErrorObject, type KeywordCxt, Name, type ValidateFunction } from "ajv";
import type { Fault } from "./fault.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { readParameterSchema } from "./parameter-schema.ts";
import { compilePattern } from "./pattern.ts";
import type { Violation } from "./violation.ts";

export type { Violation } from "./violation.ts";

export type Validator = {
  declared: ReadonlySet<string>;
  /** The declared arguments alone [TOOL-24], and all that is wrong with them. */
  check(args: JsonObject): { args: JsonObject; violations: Violation[] };
};

/** Once a call has this many violations, further items of lists are not looked at. */
export const MAX_LISTED_VIOLATIONS = 100;

/** Characters times program steps that the patterns of one call may take. */
const MAX_MATCH_STEPS = 20_000_000;

/** What is wrong with the schema of a tool's parameters. */
export function checkParameters(schema: unknown): Fault[] {
  return readParameterSchema(schema).faults;
}

/** [TOOL-22..35] Makes the check of a tool's arguments. Throws for a schema that `checkParameters` finds faults in. */
export function compileParameters(schema: unknown): Validator {
  const { enforced, faults } = readParameterSchema(schema);
  if (faults.length > 0) {
    throw new SyntaxError(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
  }
  const names = isJsonObject(enforced.properties) ? Object.keys(enforced.properties) : [];
  const budget = { steps: MAX_MATCH_STEPS };
  const validate = compileSchema(enforced, budget);
  return {
    declared: new Set(names),
    check(sent) {
      const args: JsonObject = {};
      for (const name of names) {
        if (Object.hasOwn(sent, name)) args[name] = sent[name];
      }
      budget.steps = MAX_MATCH_STEPS;
      if (validate(args)) return { args, violations: [] };
      const violations = (validate.errors ?? []).map(toViolation);
      validate.errors = null;
      return { args, violations };
    },
  };
}

function compileSchema(schema: JsonObject, budget: { steps: number }): ValidateFunction {
  const ajv = new Ajv({
    strict: false,
    strictNumbers: true,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    allErrors: true,
    messages: false,
    ownProperties: true,
    unicodeRegExp: true,
    code: { regExp: linearEngine(budget) },
  });
  ajv.removeKeyword("items");
  ajv.addKeyword({ keyword: "items", type: "array", schemaType: "object", code: checkItems });
  return ajv.compile(schema);
}

function linearEngine(budget: { steps: number }) {
  const compile = (pattern: string) => {
    const compiled = compilePattern(pattern);
    return {
      test(text: string) {
        budget.steps -= text.length * compiled.steps;
        return budget.steps >= 0 && compiled.test(text);
      },
      toString: () => pattern,
    };
  };
  return Object.assign(compile, { code: "linear-time pattern" });
}

const NUMBER_INDEX = 0;

/** Ajv's own `items` reports every item of a list however long; this one stops. */
function checkItems(context: KeywordCxt): void {
  const { gen, data } = context;
  const valid = gen.name("valid");
  const length = gen.const("len", _`${data}.length`);
  gen.forRange("i", 0, length, (index) => {
    gen.if(_`${new Name("errors")} >= ${MAX_LISTED_VIOLATIONS}`, () => gen.break());
    context.subschema({ keyword: "items", dataProp: index, dataPropType: NUMBER_INDEX }, valid);
  });
}

function toViolation({ instancePath, keyword, params }: ErrorObject): Violation {
  const path = instancePath.split("/").slice(1).map(unescapePointer);
  if (keyword === "required") path.push(params.missingProperty);
  return { field: path.join("."), rule: keyword, message: messageOf(keyword, params) };
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function messageOf(keyword: string, { limit, type }: ErrorObject["params"]): string {
  switch (keyword) {
    case "required":
      return "is required";
    case "type":
      return `must be of type ${[type].flat().join(" or ")}`;
    case "enum":
      return "is not one of the allowed values";
    case "minLength":
      return `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "pattern":
      return "does not match the required pattern";
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    default:
      return `must have at most ${limit} items`;
  }
}
