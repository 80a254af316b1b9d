import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import type { DescribedTool } from "./described-tool.ts";
import { exampleOf } from "./schema-example.ts";

/** [BLD-15] The variable from which every snippet reads the key. */
export const KEY_VARIABLE = "SERVICE_API_KEY";
/** [BLD-3] What stands for the key where a header is shown. */
export const KEY_PLACEHOLDER = "<API_KEY>";
/** Longer than a tool may run. */
export const TIMEOUT_S = 80;
const MAX_LINE = 72;

/** A call to show. */
export interface ExampleCall {
  tool: string;
  /** [TOOL-5] Absolute. */
  url: string;
  args: JsonObject;
}

/** [TOOL-5] Where a tool is called. `baseUrl` has no slash at its end. */
export function toolUrl(baseUrl: string, tool: string): string {
  return `${baseUrl}/api/v1/tools/${tool}`;
}

/** [OAPI-1] Where a key gets the description of its tools. */
export function descriptionUrl(baseUrl: string): string {
  return `${baseUrl}/api/v1/openapi.json`;
}

/** [BLD-5] [BLD-6] The call to show of a tool: without arguments when no example of them was found. */
export function exampleCall({ name, example }: DescribedTool, baseUrl: string): ExampleCall {
  return { tool: name, url: toolUrl(baseUrl, name), args: isJsonObject(example) ? example : {} };
}

/** The body of a call as JSON, on one line if it is short. */
export function bodyOfCall({ args }: ExampleCall): string {
  const line = JSON.stringify({ args });
  return line.length <= MAX_LINE ? line : JSON.stringify({ args }, null, 2);
}

/** [BLD-27] A result that passes the response schema; without one, the usual shape [TOOL-13]. */
export function exampleResult({ result }: DescribedTool): JsonObject {
  const example = exampleOf(result);
  const isTelling = isJsonObject(example) && Object.keys(example).length > 0;
  return isTelling ? example : { success: true, result: "example" };
}
