import { useSearch } from "@tanstack/react-router";
import { type Tool, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { useList } from "../../../ui/list/use-list.ts";
import { VersionList } from "../../definition/versions/version-list.tsx";
import { ToolVersion } from "./tool-version.tsx";

interface VersionsOfProps {
  name: string;
  /** The version that runs; undefined for a deleted tool. */
  current: Tool | undefined;
  onChanged: () => void;
}

/** The versions of a tool, newest first, and one of them beside the list. */
export function VersionsOf({ name, current, onChanged }: VersionsOfProps) {
  const workspace = useWorkspace();
  const { version } = useSearch({ strict: false });
  const list = useList(
    ToolService.method.listToolVersions,
    { workspace, name },
    {
      rowsOf: (page) => page.versions,
      keyOf: (row) => String(row.version),
      isHeld: version !== undefined,
    },
  );
  // A name that no tool ever had.
  if (list.error && current === undefined) return null;
  const onRestored = () => {
    list.refresh();
    onChanged();
  };
  return (
    <VersionList
      list={list}
      current={current?.version}
      panel={(opened, onClose) => (
        <ToolVersion
          key={opened}
          name={name}
          version={opened}
          current={current}
          onClose={onClose}
          onRestored={onRestored}
        />
      )}
    />
  );
}
