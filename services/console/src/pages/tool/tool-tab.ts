import type { Tool } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";

/** What a tab of a tool is given. */
export interface ToolTabProps {
  tool: Tool;
  /** Reads the tool again. */
  onChanged: () => void;
}
