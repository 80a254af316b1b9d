import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { type DescribedTool, EFFECTS } from "./described-tool.ts";

/** What a key's OpenAPI document says, for people. */
export interface ReadDocument {
  title: string;
  description: string;
  /** Sorted by name. Their schemas refer to `definitions` that are left out. */
  tools: DescribedTool[];
}

/** Reads a document that the gateway has made of a key's tools; undefined if it is none. */
export function readOpenApi(document: unknown): ReadDocument | undefined {
  const info = memberOf(document, "info");
  const paths = memberOf(document, "paths");
  if (!info || !paths) return undefined;
  const schemas = memberOf(memberOf(document, "components"), "schemas") ?? {};
  const tools = Object.values(paths).flatMap((path) => {
    const operation = memberOf(path, "post");
    return operation ? [toolOf(operation, schemas)] : [];
  });
  return { title: textOf(info.title), description: textOf(info.description), tools };
}

function toolOf(operation: JsonObject, schemas: JsonObject): DescribedTool {
  const name = textOf(operation.operationId);
  const whole = textOf(operation.description);
  // The effect is the last line of every description.
  const effect = Object.values(EFFECTS).find((text) => whole.endsWith(text)) ?? "";
  const content = memberOf(memberOf(memberOf(operation, "requestBody"), "content"), "application/json");
  const example = memberOf(content, "example");
  return {
    name,
    description: whole.slice(0, whole.length - effect.length).trim(),
    effect,
    args: memberOf(schemas, `${name}.args`) ?? {},
    result: memberOf(schemas, `${name}.result`) ?? {},
    definitions: [],
    example: example && ownValue(example, "args"),
  };
}

function memberOf(object: unknown, name: string): JsonObject | undefined {
  const member = isJsonObject(object) ? ownValue(object, name) : undefined;
  return isJsonObject(member) ? member : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
