import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { Button } from "../button.tsx";
import { FailureText } from "../page/failure.tsx";
import { useShortcut } from "../shortcuts.ts";
import { type Column, HeadRow, ListRow } from "./list-row.tsx";
import styles from "./resource-list.module.css";
import type { List } from "./use-list.ts";
import { usePosition } from "./use-position.ts";

export type { Column };

const ROW_PX = 36;
const OVERSCAN_ROWS = 10;

/** Two kinds of nothing: there is none yet, or none that the filters let through. */
export interface Empty {
  title: string;
  text: string;
  action?: ReactNode;
}

interface ResourceListProps<Row> {
  label: string;
  list: List<Row>;
  columns: readonly Column<Row>[];
  /** Heads the first cell; "Name" when not set. */
  nameHeader?: string;
  /** The name by which a row is opened: its first cell. */
  nameOf: (row: Row) => ReactNode;
  open: string | undefined;
  onOpen: (key: string | undefined) => void;
  empty: Empty;
  isFiltered: boolean;
  onClearFilters: () => void;
  /** The first row in sight, which the URL remembers. */
  at: number | undefined;
  onAt: (at: number | undefined) => void;
}

/** The one list of the console: pages of rows, drawn only where they are in sight, and what is new above them. */
export function ResourceList<Row>(props: ResourceListProps<Row>) {
  const { label, list, columns, nameHeader = "Name", nameOf, open, onOpen, at = 0, onAt } = props;
  const { rows, keyOf } = list;
  const viewport = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN_ROWS,
    getItemKey: (index) => keyOf(rows[index] as Row),
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (list.hasMore && !list.error && last >= rows.length - 1) list.loadMore();
  }, [last, rows.length, list.hasMore, list.error, list.isFetching]);
  const onScroll = usePosition({ viewport, virtual, rowPx: ROW_PX, list, at, onAt });
  useRowKeys(viewport, open);
  // Of a search, a page may be empty although there are more.
  const isEmpty = list.isLoaded && rows.length === 0 && !list.hasMore;
  const showNew = () => {
    viewport.current?.scrollTo({ top: 0 });
    onOpen(undefined);
    list.hold(false);
    list.restart();
  };
  return (
    <div className={styles.whole}>
      {list.error && <FailureText failure={failureOf(list.error)} onRetry={list.refresh} />}
      {isEmpty && <Nothing {...props} />}
      <div ref={viewport} className={styles.viewport} onScroll={onScroll} hidden={isEmpty}>
        <div
          role="table"
          aria-label={label}
          aria-rowcount={list.hasMore ? -1 : rows.length + 1}
          className={styles.table}
        >
          <HeadRow nameHeader={nameHeader} columns={columns} />
          <div role="rowgroup" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, key, start }) => {
              const row = rows[index] as Row;
              const id = keyOf(row);
              const place = { row, id, index, start, columns, name: nameOf(row) };
              return <ListRow key={key} {...place} isOpen={id === open} onOpen={() => onOpen(id)} />;
            })}
          </div>
        </div>
      </div>
      <Freshness list={list} onShowNew={showNew} />
    </div>
  );
}

/** `j` and `k` move between the rows in sight, from the one in focus or else the open one. */
function useRowKeys(viewport: RefObject<HTMLDivElement | null>, open: string | undefined): void {
  const move = (by: number) => {
    const shown = [...(viewport.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const focused = shown.indexOf(document.activeElement as HTMLElement);
    const current = focused === -1 ? shown.findIndex((button) => button.dataset.row === open) : focused;
    const next = shown[current === -1 ? 0 : current + by];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcut("j", () => move(1));
  useShortcut("k", () => move(-1));
}

type NothingProps = Pick<ResourceListProps<never>, "empty" | "isFiltered" | "onClearFilters">;

function Nothing({ empty, isFiltered, onClearFilters }: NothingProps) {
  return (
    <div className={styles.empty}>
      <h2>{isFiltered ? "No match" : empty.title}</h2>
      <p>{isFiltered ? "Nothing here fits the filters." : empty.text}</p>
      {isFiltered ? <Button onClick={onClearFilters}>Clear the filters</Button> : empty.action}
    </div>
  );
}

function Freshness<Row>({ list, onShowNew }: { list: List<Row>; onShowNew: () => void }) {
  const clock = new Date(list.updatedAt).toLocaleTimeString("en-GB");
  return (
    <footer className={styles.footer} data-live={list.isLive}>
      {list.isLoaded ? `Updated ${clock}${list.isLive ? "" : " · paused"}` : list.error ? "" : "Loading…"}
      {list.newRows > 0 && <Button onClick={onShowNew}>{list.newRows} new</Button>}
    </footer>
  );
}
