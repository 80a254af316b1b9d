import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { hasInexactNumber } from "@toolgate/rules/json-numbers";

/** The value that somebody typed, or what is wrong with the text. */
type ReadJson<Value> = { wrong: string; value?: never } | { wrong?: never; value: Value };

export function readJson(text: string): ReadJson<JsonValue> {
  try {
    const value: JsonValue = JSON.parse(text);
    if (!hasInexactNumber(text)) return { value };
    return { wrong: "A number has more digits than JSON numbers keep. Write it as a text." };
  } catch {
    return { wrong: "This is not JSON yet." };
  }
}

export function readJsonObject(text: string): ReadJson<JsonObject> {
  const { wrong, value } = readJson(text);
  if (wrong !== undefined) return { wrong };
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { value } : { wrong: "It must be a JSON object." };
}
