import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { CUSTOM_KINDS } from "./custom-kinds.ts";
import type { Manifest } from "./helm.ts";

/** What one version of Kubernetes would refuse about manifests, unknown fields included; empty when they are right. */
export function schemaFaults(manifests: readonly Manifest[], version: string): string[] {
  const validate = validatorOf(version);
  return manifests.flatMap((manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`;
    const validateKind = validate(kind);
    if (!validateKind) return [`${kind} is not a kind of Kubernetes ${version} that the chart may use`];
    const at = `${manifest.kind} ${manifest.metadata?.name}`;
    validateKind(manifest);
    return (validateKind.errors ?? []).map(({ instancePath, message, params }) => {
      const field = "additionalProperty" in params ? ` (${params.additionalProperty})` : "";
      return `${at}${instancePath}: ${message}${field}`;
    });
  });
}

const BASE = "https://kubernetes.invalid/definitions.json";

type Validator = (kind: string) => ValidateFunction | undefined;

const validators = new Map<string, Validator>();

function validatorOf(version: string): Validator {
  const known = validators.get(version);
  if (known) return known;
  const file = new URL(`../kubernetes/${version}.json`, import.meta.url);
  const { kinds, definitions } = JSON.parse(readFileSync(file, "utf8"));
  // The formats are Kubernetes' own, and only say how large numbers are.
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
  ajv.addSchema({ $id: BASE, definitions });
  for (const [kind, schema] of Object.entries(CUSTOM_KINDS)) ajv.addSchema(schema, kind);
  const validator: Validator = (kind) => ajv.getSchema(kind in kinds ? `${BASE}${kinds[kind].$ref}` : kind);
  validators.set(version, validator);
  return validator;
}
