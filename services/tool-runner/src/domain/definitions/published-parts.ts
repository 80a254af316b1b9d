import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createArgumentValidator } from "../calls/argument-validator.ts";
import type { DefinitionViolation } from "./definition.ts";

export const MAX_RESPONSE_SCHEMA_CHARS = 65_536;
const MAX_SCHEMA_LEVELS = 20;
const MAX_REPORTED = 20;

/**
 * [OAPI-6] [BLD-5] What is wrong with the parts of a definition that only documents for callers use, although the tool could
 * run: a response schema that is none, and a fixture that the tool's own parameters refuse.
 */
export function publishedViolations(definition: JsonObject): DefinitionViolation[] {
  const response = ownValue(definition, "external_api_response");
  const fixture = ownValue(definition, "args_fixture");
  const violations = response === undefined ? [] : schemaViolations(response, "external_api_response");
  if (isJsonObject(fixture)) violations.push(...fixtureViolations(fixture, ownValue(definition, "parameters")));
  return violations.slice(0, MAX_REPORTED);
}

function fixtureViolations(fixture: JsonObject, parameters: unknown): DefinitionViolation[] {
  const { violations } = createArgumentValidator(parameters).check(fixture);
  return violations.map(({ field, message }) => ({ path: field ? `args_fixture.${field}` : "args_fixture", message }));
}

/** Schemas of the draft 2020-12, and of draft-07, which most people still write. */
function schemaViolations(schema: unknown, path: string): DefinitionViolation[] {
  if (JSON.stringify(schema).length > MAX_RESPONSE_SCHEMA_CHARS) {
    return [{ path, message: `must have at most ${MAX_RESPONSE_SCHEMA_CHARS} characters` }];
  }
  const { $schema: _, $id: __, ...plain } = schema as JsonObject;
  const options = { strict: false, validateFormats: false, allErrors: false, logger: false } as const;
  const present = new Ajv2020(options);
  if (!present.validateSchema(plain) && !new Ajv(options).validateSchema(plain)) {
    const [error] = present.errors ?? [];
    const at = `${path}${(error?.instancePath ?? "").replaceAll("/", ".")}`;
    return [{ path: at, message: `is not JSON Schema: ${error?.message ?? "not valid"}` }];
  }
  return patternViolations(plain, path, 1);
}

/** Patterns, which the meta-schema does not check. What readers of the document cannot compile would fail there. */
function patternViolations(schema: unknown, path: string, level: number): DefinitionViolation[] {
  if (Array.isArray(schema)) return schema.flatMap((item, at) => patternViolations(item, `${path}.${at}`, level));
  if (!isJsonObject(schema)) return [];
  if (level > MAX_SCHEMA_LEVELS * 2) return [{ path, message: `at most ${MAX_SCHEMA_LEVELS} levels of schemas` }];
  const { pattern, patternProperties } = schema;
  const patterns = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  if (typeof pattern === "string") patterns.push(pattern);
  const wrong = patterns.filter((text) => !isPattern(text)).map(() => ({ path, message: "has an invalid pattern" }));
  const inner = Object.entries(schema).filter(([name]) => !["const", "enum", "default", "examples"].includes(name));
  return wrong.concat(inner.flatMap(([name, part]) => patternViolations(part, `${path}.${name}`, level + 1)));
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
