import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { type JsonObject, portableSchema } from "./json-schema.ts";
import { exampleArguments } from "./schema-example.ts";

/** A tool as callers by key are told about it. */
export interface DescribedTool {
  name: string;
  description: string;
  readOnly: boolean;
  args: JsonObject;
  result: JsonObject;
  example: JsonObject | undefined;
}

/** [OAPI] What a tool without a response schema is said to answer. */
const ANY_RESULT: JsonObject = { type: "object", properties: { success: { type: "boolean" } } };

/** `pointerTo`: where the arguments' and the result's schema will stand in the document, as JSON pointers. */
export function describedTool(
  tool: ToolDescription,
  pointerTo: (tool: string, part: "args" | "result") => string,
): DescribedTool {
  const { name, description, readOnly } = tool;
  const args = argumentsSchema(tool, pointerTo(name, "args"));
  const result =
    tool.responseJson === "" ? ANY_RESULT : portableSchema(parsed(tool.responseJson), pointerTo(name, "result"));
  return { name, description, readOnly, args, result, example: exampleArguments(args, parsed(tool.argsFixtureJson)) };
}

/** The arguments are an object, whatever else the schema leaves open. */
export function argumentsSchema({ parametersJson }: ToolDescription, base: string): JsonObject {
  return { properties: {}, ...portableSchema(parsed(parametersJson), base), type: "object" };
}

function parsed(json: string): unknown {
  return json === "" ? undefined : JSON.parse(json);
}
