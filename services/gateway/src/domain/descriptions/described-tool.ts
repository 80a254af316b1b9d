import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { JsonObject } from "../json.ts";
import { portableSchema } from "./json-schema.ts";
import { exampleOf } from "./schema-example.ts";

/** What the owner of an API key is told about a tool. */
export interface DescribedTool {
  name: string;
  description: string;
  /** One sentence on what a call may change. */
  effect: string;
  args: JsonObject;
  result: JsonObject;
  /** Arguments to show; undefined when none are found that pass the schema. */
  example: unknown;
}

/** [RO-8] [RO-9] Callers need to know this before they let an agent call the tool. */
function effectOf({ readOnly, mayWrite }: ToolDescription): string {
  if (mayWrite) return "May write.";
  return readOnly ? "Reads only." : "Writes no data of the workspace, but may send email and call other services.";
}

/** [OAPI] The result of a tool without a response schema. */
const ANY_RESULT: JsonObject = { type: "object", properties: { success: { type: "boolean" } } };

/** `pointerTo`: the JSON pointer to the schema of the arguments or the result in the document. */
export function describedTool(
  tool: ToolDescription,
  pointerTo: (tool: string, part: "args" | "result") => string,
): DescribedTool {
  const { name, description } = tool;
  const args = argumentsSchema(tool, pointerTo(name, "args"));
  const response = parsed(tool.responseJson);
  const result = response === undefined ? ANY_RESULT : portableSchema(response, pointerTo(name, "result"));
  // [BLD-5] tool-runner has reduced the fixture to the declared arguments.
  const example = parsed(tool.argsFixtureJson) ?? exampleOf(args);
  return { name, description, effect: effectOf(tool), args, result, example };
}

/** The arguments are always an object, even where the schema leaves that open. */
export function argumentsSchema({ parametersJson }: ToolDescription, base: string): JsonObject {
  return { properties: {}, ...portableSchema(parsed(parametersJson), base), type: "object" };
}

/**
 * What MCP clients check the results of a tool against; undefined without a response schema, or if that describes no
 * object, because every result is one.
 */
export function outputSchema({ responseJson }: ToolDescription): JsonObject | undefined {
  const response = parsed(responseJson);
  if (response === undefined) return undefined;
  const schema = portableSchema(response, "#");
  return [schema.type ?? "object"].flat().includes("object") ? { ...schema, type: "object" } : undefined;
}

function parsed(json: string): unknown {
  return json === "" ? undefined : JSON.parse(json);
}
