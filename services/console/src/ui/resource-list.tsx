import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { failureOf } from "../rpc/errors.ts";
import { Button } from "./button.tsx";
import { FailureText } from "./failure.tsx";
import styles from "./resource-list.module.css";
import { useShortcut } from "./shortcuts.ts";
import type { List } from "./use-list.ts";

const ROW_PX = 36;
const OVERSCAN_ROWS = 10;
const SAVE_POSITION_MS = 300;

export interface Column<Row> {
  header: string;
  /** Of the grid: "2fr", "90px". */
  width: string;
  align?: "end";
  render: (row: Row) => ReactNode;
}

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
  const {
    label,
    list,
    columns,
    nameHeader = "Name",
    nameOf,
    open,
    onOpen,
    empty,
    isFiltered,
    onClearFilters,
    at = 0,
    onAt,
  } = props;
  const { rows, keyOf } = list;
  const viewport = useRef<HTMLDivElement>(null);
  const savedAt = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
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
  // Back to the position that the URL has, which may be some pages down.
  useEffect(() => {
    if (at === savedAt.current) return;
    if (at < rows.length) {
      savedAt.current = at;
      virtual.scrollToIndex(at, { align: "start" });
    } else if (list.hasMore) list.loadMore();
  }, [at, rows.length, list.isFetching]);

  const scrolled = () => {
    const top = viewport.current?.scrollTop ?? 0;
    list.hold(top > ROW_PX);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const first = Math.ceil(top / ROW_PX);
      if (first === savedAt.current) return;
      savedAt.current = first;
      onAt(first || undefined);
    }, SAVE_POSITION_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);

  const buttons = () => [...(viewport.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
  const move = (by: number) => {
    const shown = buttons();
    const current = shown.findIndex((button) => button === document.activeElement || button.dataset.row === open);
    const next = shown[current === -1 ? 0 : current + by];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcut("j", () => move(1));
  useShortcut("k", () => move(-1));

  const grid = { gridTemplateColumns: ["minmax(140px, 2fr)", ...columns.map(({ width }) => width)].join(" ") };
  const showNew = () => {
    viewport.current?.scrollTo({ top: 0 });
    onOpen(undefined);
    list.hold(false);
    list.refresh();
  };
  // Of a search, a page may be empty although there are more.
  const isEmpty = list.isLoaded && rows.length === 0 && !list.hasMore;
  const clock = new Date(list.updatedAt).toLocaleTimeString("en-GB");
  return (
    <div className={styles.whole}>
      {list.error && <FailureText failure={failureOf(list.error)} onRetry={list.refresh} />}
      {isEmpty && (
        <div className={styles.empty}>
          <h2>{isFiltered ? "No match" : empty.title}</h2>
          <p>{isFiltered ? "Nothing here fits the filters." : empty.text}</p>
          {isFiltered ? <Button onClick={onClearFilters}>Clear the filters</Button> : empty.action}
        </div>
      )}
      <div ref={viewport} className={styles.viewport} onScroll={scrolled} hidden={isEmpty}>
        <div
          role="table"
          aria-label={label}
          aria-rowcount={list.hasMore ? -1 : rows.length + 1}
          className={styles.table}
        >
          <div role="row" className={`${styles.row} ${styles.head}`} style={grid}>
            {[nameHeader, ...columns.map(({ header }) => header)].map((header, index) => (
              <span key={header} role="columnheader" className={columns[index - 1]?.align === "end" ? styles.end : ""}>
                {header}
              </span>
            ))}
          </div>
          <div role="rowgroup" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, key, start }) => {
              const row = rows[index] as Row;
              const id = keyOf(row);
              return (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={index + 2}
                  className={`${styles.row} ${id === open ? styles.open : ""}`}
                  style={{ ...grid, translate: `0 ${start}px` }}
                  onClick={() => onOpen(id)}
                >
                  <span role="cell">
                    <button type="button" data-row={id} aria-expanded={id === open} className={styles.name}>
                      {nameOf(row)}
                    </button>
                  </span>
                  {columns.map(({ header, align, render }) => (
                    <span key={header} role="cell" className={align === "end" ? styles.end : ""}>
                      {render(row)}
                    </span>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      <footer className={styles.footer} data-live={list.isLive}>
        {list.isLoaded ? `Updated ${clock}${list.isLive ? "" : " · paused"}` : "Loading…"}
        {list.newRows > 0 && <Button onClick={showNew}>{list.newRows} new</Button>}
      </footer>
    </div>
  );
}
