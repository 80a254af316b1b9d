import { isJsonObject, ownValue } from "@toolgate/rules/json-object";
import type { CompileResult } from "@toolgate/sandbox/compile";
import { checkDefinition } from "../../domain/definitions/check-definition.ts";

/** As `checkDefinition`, with a compiler that works elsewhere. */
export async function checkSavedDefinition(
  definition: unknown,
  compile: (source: string) => Promise<CompileResult>,
): Promise<ReturnType<typeof checkDefinition>> {
  const source = isJsonObject(definition) ? ownValue(definition, "handler") : undefined;
  const compiled = typeof source === "string" ? await compile(source) : undefined;
  return checkDefinition(definition, () => compiled ?? { ok: false, violations: [] });
}
