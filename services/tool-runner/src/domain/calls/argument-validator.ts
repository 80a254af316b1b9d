import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { readParameterSchema } from "../definitions/parameter-schema.ts";
import { compilePattern } from "../definitions/pattern.ts";
import type { Violation } from "./call-body.ts";
import { readFormValue } from "./form-values.ts";
import { KnownValues } from "./known-values.ts";
import { replaceSlowKeywords } from "./validator-keywords.ts";

export type ArgumentValidator = {
  /**
   * [TOOL-24] The declared arguments only, and everything that is wrong with them. `fromForm`: texts are first read as
   * what they are declared to be.
   */
  check(args: JsonObject, fromForm?: boolean): { args: JsonObject; violations: Violation[] };
};

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
  const known = new KnownValues();
  const validate = compileSchema(enforced, budget, known);
  return {
    check(sent, fromForm = false) {
      let args: JsonObject = {};
      for (const name of names) {
        if (Object.hasOwn(sent, name)) args[name] = sent[name];
      }
      if (fromForm) args = readFormValue(args, enforced) as JsonObject;
      budget.steps = MAX_MATCH_STEPS;
      const isValid = validate(args);
      known.forgetFound();
      if (isValid) return { args, violations: [] };
      const violations = (validate.errors ?? []).map(toViolation);
      validate.errors = null;
      return { args, violations };
    },
  };
}

function compileSchema(schema: JsonObject, budget: { steps: number }, known: KnownValues): ValidateFunction {
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
  replaceSlowKeywords(ajv, known);
  return ajv.compile(schema);
}

function linearEngine(budget: { steps: number }) {
  const compile = (pattern: string) => {
    const compiled = compilePattern(pattern);
    return {
      test(text: string) {
        // An empty text takes as long as a character.
        budget.steps -= Math.max(1, text.length) * compiled.steps;
        return budget.steps >= 0 && compiled.test(text);
      },
      toString: () => pattern,
    };
  };
  return Object.assign(compile, { code: "linear-time pattern" });
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
  minLength: ({ limit }) => `must have at least ${limit} character${limit === 1 ? "" : "s"}`,
  maxLength: ({ limit }) => `must have at most ${limit} character${limit === 1 ? "" : "s"}`,
  maxItems: ({ limit }) => `must have at most ${limit} item${limit === 1 ? "" : "s"}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  pattern: () => "does not match the required pattern",
};
