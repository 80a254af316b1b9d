import { getRouteApi } from "@tanstack/react-router";
import { type Tool, ToolService, type ToolVersion } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { VERSIONS } from "../../../text/en/tool-editor.ts";
import { type Column, ResourceList } from "../../../ui/list/resource-list.tsx";
import { useList } from "../../../ui/list/use-list.ts";
import { useSetSearch } from "../../../ui/list/use-set-search.ts";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { VersionPanel } from "./version-panel.tsx";
import styles from "./versions.module.css";

const route = getRouteApi("/shell/tools/$name");

const COLUMNS: readonly Column<ToolVersion>[] = [
  {
    header: "State",
    width: "90px",
    render: ({ current }) =>
      current ? (
        <Status tone="good">{VERSIONS.current}</Status>
      ) : (
        <span className={styles.dim}>{VERSIONS.earlier}</span>
      ),
  },
  { header: "Saved", width: "100px", render: ({ savedAt }) => <Time at={savedAt} /> },
  { header: "By", width: "minmax(120px, 2fr)", render: ({ savedBy }) => <span title={savedBy}>{savedBy}</span> },
];

interface VersionsOfProps {
  name: string;
  /** The version that runs; undefined for a deleted tool. */
  current: Tool | undefined;
  onChanged: () => void;
}

/** The versions of a tool, newest first, and one of them beside the list. */
export function VersionsOf({ name, current, onChanged }: VersionsOfProps) {
  const workspace = useWorkspace();
  const { version, at } = route.useSearch();
  const set = useSetSearch();
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
  return (
    <div className={version === undefined ? styles.whole : `${styles.whole} ${styles.split}`}>
      <ResourceList
        label={VERSIONS.title}
        list={list}
        columns={COLUMNS}
        nameOf={(row) => VERSIONS.version(row.version)}
        open={version === undefined ? undefined : String(version)}
        onOpen={(key) => set({ version: key === undefined ? undefined : Number(key) })}
        empty={{ title: VERSIONS.empty, text: VERSIONS.emptyText }}
        isFiltered={false}
        onClearFilters={() => {}}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {version !== undefined && (
        <VersionPanel
          key={version}
          name={name}
          version={version}
          current={current}
          onClose={() => set({ version: undefined })}
          onRestored={() => {
            list.refresh();
            onChanged();
          }}
        />
      )}
    </div>
  );
}
