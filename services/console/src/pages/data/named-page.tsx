import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import type { List } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";

/** What a dialog or a panel of one named thing is given. */
export interface NamedProps {
  onClose: () => void;
  /** It was saved or deleted; `name` is opened when there is one. */
  onChanged: (name?: string) => void;
}

interface NamedPageProps<Row> {
  text: { title: string; empty: string; emptyText: string; create?: string };
  list: List<Row>;
  columns: readonly Column<Row>[];
  /** The dialog that makes one, for those who may. */
  create?: ((dialog: NamedProps) => ReactNode) | undefined;
  panel: (opened: Row, panel: NamedProps) => ReactNode;
  /** Above the list. */
  children?: ReactNode;
}

/** A list of what a workspace has by name: the row that is open has the name in the URL. */
export function NamedPage<Row>({ text, list, columns, create, panel, children }: NamedPageProps<Row>) {
  const { open, at } = useSearch({ strict: false });
  const set = useSetSearch();
  const [isCreating, setCreating] = useState(false);
  useShortcut("c", () => setCreating(create !== undefined));
  const opened = list.rows.find((row) => list.keyOf(row) === open);
  const button = create && (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {text.create}
    </Button>
  );
  const changed = (name?: string) => {
    list.refresh();
    set({ open: name });
  };
  return (
    <Page
      title={text.title}
      actions={button}
      panel={opened && panel(opened, { onClose: () => set({ open: undefined }), onChanged: changed })}
    >
      {children}
      <ResourceList
        label={text.title}
        list={list}
        columns={columns}
        nameOf={(row) => <code>{list.keyOf(row)}</code>}
        open={open}
        onOpen={(name) => set({ open: name })}
        empty={{ title: text.empty, text: text.emptyText, action: button }}
        isFiltered={false}
        onClearFilters={() => {}}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {isCreating && create?.({ onClose: () => setCreating(false), onChanged: changed })}
    </Page>
  );
}
