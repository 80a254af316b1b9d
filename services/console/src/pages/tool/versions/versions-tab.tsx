import type { ToolTabProps } from "../tool-tab.ts";
import { VersionsOf } from "./versions-of.tsx";

export default function VersionsTab({ tool, onChanged }: ToolTabProps) {
  return <VersionsOf name={tool.name} current={tool} onChanged={onChanged} />;
}
