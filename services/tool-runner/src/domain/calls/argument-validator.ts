import { isJsonObject, type JsonObject } from "@toolgate/json/json-object";
import { _, Ajv, type ErrorObject, type KeywordCxt, Name, type ValidateFunction } from "ajv";
import { readParameterSchema } from "../definitions/parameter-schema.ts";
import { compilePattern } from "../definitions/pattern.ts";
import type { Violation } from "./call-body.ts";
import { readFormValue } from "./form-values.ts";

export type ArgumentValidator = {
  /**
   * [TOOL-24] The declared arguments only, and everything that is wrong with them. `fromForm`: texts are first read as
   * what they are declared to be.
   */
  check(args: JsonObject, options?: { fromForm: boolean }): { args: JsonObject; violations: Violation[] };
};

/** Once a call has this many violations, the remaining items of lists are not checked. */
export const MAX_LISTED_VIOLATIONS = 100;

const JSON_TEXT = { fromForm: false };

/** Bounds the work of all patterns in one call: characters times program steps. */
const MAX_MATCH_STEPS = 20_000_000;

/** [TOOL-22..35] Throws for a schema that a definition cannot have. */
export function createArgumentValidator(schema: unknown): ArgumentValidator {
  const enforced = readParameterSchema(schema, (path, message) => {
    throw new SyntaxError(`${path}: ${message}`);
  });
  const properties = isJsonObject(enforced.properties) ? enforced.properties : {};
  const names = Object.keys(properties);
  const budget = { steps: MAX_MATCH_STEPS };
  const validate = compileSchema(enforced, budget);
  return {
    check(sent, { fromForm } = JSON_TEXT) {
      const args: JsonObject = {};
      for (const name of names) {
        if (Object.hasOwn(sent, name)) args[name] = sent[name];
      }
      if (fromForm) for (const name in args) args[name] = readFormValue(args[name], properties[name]);
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

function toViolation({ instancePath, keyword, params }: ErrorObject): Violation {
  const path = instancePath.split("/").slice(1);
  const names = path.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (keyword === "required") names.push(params.missingProperty);
  return { field: names.join("."), rule: keyword, message: MESSAGES[keyword]?.(params) ?? "is not valid" };
}

const MESSAGES: Record<string, (params: ErrorObject["params"]) => string> = {
  required: () => "is required",
  type: ({ type }) => `must be of type ${[type].flat().join(" or ")}`,
  enum: () => "is not one of the allowed values",
  minLength: ({ limit }) => `must have at least ${limit} characters`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  pattern: () => "does not match the required pattern",
};
