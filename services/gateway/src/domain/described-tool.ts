import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { type JsonObject, portableSchema } from "./json-schema.ts";
import { exampleArguments } from "./schema-example.ts";

/** A tool as callers by key are told about it. */
export interface DescribedTool {
  name: string;
  description: string;
  /** What its calls may change, in a sentence. */
  effect: string;
  args: JsonObject;
  result: JsonObject;
  example: JsonObject | undefined;
}

/** [RO-8] [RO-9] What a caller has to know before it lets an agent call the tool. */
function effectOf({ readOnly, mayWrite }: ToolDescription): string {
  if (mayWrite) return "May write.";
  return readOnly ? "Reads only." : "Writes no data of the workspace, but may send mails and call other services.";
}

/** [OAPI] What a tool without a response schema is said to answer. */
const ANY_RESULT: JsonObject = { type: "object", properties: { success: { type: "boolean" } } };

/** `pointerTo`: where the arguments' and the result's schema will stand in the document, as JSON pointers. */
export function describedTool(
  tool: ToolDescription,
  pointerTo: (tool: string, part: "args" | "result") => string,
): DescribedTool {
  const { name, description } = tool;
  const args = argumentsSchema(tool, pointerTo(name, "args"));
  const result =
    tool.responseJson === "" ? ANY_RESULT : portableSchema(parsed(tool.responseJson), pointerTo(name, "result"));
  const effect = effectOf(tool);
  return { name, description, effect, args, result, example: exampleArguments(args, parsed(tool.argsFixtureJson)) };
}

/** The arguments are an object, whatever else the schema leaves open. */
export function argumentsSchema({ parametersJson }: ToolDescription, base: string): JsonObject {
  return { properties: {}, ...portableSchema(parsed(parametersJson), base), type: "object" };
}

function parsed(json: string): unknown {
  return json === "" ? undefined : JSON.parse(json);
}
