import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { VERSIONS } from "../../../text/en/tools/tool-editor.ts";
import { type Column, ResourceList } from "../../../ui/list/resource-list.tsx";
import type { List } from "../../../ui/list/use-list.ts";
import { useSetSearch } from "../../../ui/list/use-set-search.ts";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import styles from "./versions.module.css";

interface Row {
  version: number;
  savedAt?: Timestamp | undefined;
  savedBy: string;
}

const columnsFor = (current: number | undefined): readonly Column<Row>[] => [
  {
    header: "State",
    width: "90px",
    render: ({ version }) =>
      version === current ? (
        <Status tone="good">{VERSIONS.current}</Status>
      ) : (
        <span className={styles.dim}>{VERSIONS.earlier}</span>
      ),
  },
  { header: "Saved", width: "100px", render: ({ savedAt }) => <Time at={savedAt} /> },
  { header: "By", width: "minmax(120px, 2fr)", render: ({ savedBy }) => <span title={savedBy}>{savedBy}</span> },
];

interface VersionListProps<R extends Row> {
  list: List<R>;
  /** The number of the newest version; undefined for something that was deleted. */
  current: number | undefined;
  /** One version beside the list. */
  panel: (version: number, onClose: () => void) => ReactNode;
}

/** The versions of a definition, newest first. The one that is open is in the URL. */
export function VersionList<R extends Row>({ list, current, panel }: VersionListProps<R>) {
  const { version, at } = useSearch({ strict: false });
  const set = useSetSearch();
  return (
    <div className={version === undefined ? styles.whole : `${styles.whole} ${styles.split}`}>
      <ResourceList
        label={VERSIONS.title}
        list={list}
        columns={columnsFor(current)}
        nameOf={(row) => VERSIONS.version(row.version)}
        open={version === undefined ? undefined : String(version)}
        onOpen={(key) => set({ version: key === undefined ? undefined : Number(key) })}
        empty={{ title: VERSIONS.empty, text: VERSIONS.emptyText }}
        isFiltered={false}
        onClearFilters={() => {}}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {version !== undefined && panel(version, () => set({ version: undefined }))}
    </div>
  );
}
