import { describedTool } from "@toolgate/api-examples/described-tool";
import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { comment, memberName, schemaType } from "./schema-type.ts";

const HEAD = `/** The tools that this API key may call: POST /api/v1/tools/{tool} with the body {"args": …}. */
export interface Tools {
`;

const TAIL = `}

export type ToolName = keyof Tools;
export type ToolArgs<Name extends ToolName> = Tools[Name]["args"];
export type ToolResult<Name extends ToolName> = Tools[Name]["result"];

/** The body of a call. */
export interface ToolCall<Name extends ToolName> {
  args: ToolArgs<Name>;
}

/** One reason why the arguments of a call are not valid. */
export interface Violation {
  field: string;
  rule: string;
  message: string;
}

/** The body of every response other than 200. */
export interface Failure {
  success: false;
  error: string;
  /** 400 because of the arguments. */
  details?: Violation[];
  /** 429: seconds until the next call may succeed. */
  retry_after?: number;
}
`;

/** A TypeScript declaration file of the tools in the OpenAPI description. */
export function toolDeclarations(tools: readonly ToolDescription[]): string {
  const members = tools.map((tool) => {
    const { name, description, effect, args, result } = describedTool(tool, () => "#");
    return `${comment(`${description}\n${effect}`, "  ")}  ${memberName(name)}: {
    args: ${schemaType(args, "    ")};
    result: ${schemaType(result, "    ")};
  };
`;
  });
  return HEAD + members.join("") + TAIL;
}
