import type { ToolTabProps } from "../tool-tab.ts";

export default function Tab({ tool }: ToolTabProps) {
  return <p>{tool.name}</p>;
}
