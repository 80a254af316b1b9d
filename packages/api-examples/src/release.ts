import { isJsonObject, ownValue } from "@toolgate/rules/json-object";

/**
 * Why a saved definition is or is not released for API keys, for administrators: [TOOL-14] only true releases, [TOOL-17]
 * and nothing releases an async tool.
 */
export function explainRelease(saved: unknown): { released: boolean; releasedWithoutEffect: boolean; async: boolean } {
  const definition = isJsonObject(saved) ? saved : {};
  const flag = ownValue(definition, "external_api");
  return {
    released: flag === true,
    releasedWithoutEffect: flag !== true && Boolean(flag),
    async: Boolean(ownValue(definition, "async")),
  };
}
