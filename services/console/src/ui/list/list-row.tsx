import type { ReactNode } from "react";
import styles from "./resource-list.module.css";

export interface Column<Row> {
  header: string;
  /** Of the grid: "2fr", "90px". */
  width: string;
  align?: "end";
  render: (row: Row) => ReactNode;
}

const sideOf = ({ align }: { align?: "end" }) => (align === "end" ? styles.end : "");
const gridOf = (columns: readonly Column<never>[]) => ({
  gridTemplateColumns: ["minmax(140px, 2fr)", ...columns.map(({ width }) => width)].join(" "),
});

export function HeadRow<Row>({ nameHeader, columns }: { nameHeader: string; columns: readonly Column<Row>[] }) {
  return (
    <div role="row" className={`${styles.row} ${styles.head}`} style={gridOf(columns)}>
      <span role="columnheader">{nameHeader}</span>
      {columns.map((column) => (
        <span key={column.header} role="columnheader" className={sideOf(column)}>
          {column.header}
        </span>
      ))}
    </div>
  );
}

interface ListRowProps<Row> {
  row: Row;
  id: string;
  name: ReactNode;
  columns: readonly Column<Row>[];
  isOpen: boolean;
  onOpen: () => void;
  /** Its place in the list, from 0. */
  index: number;
  /** Pixels from the top. */
  start: number;
}

/** A row, which is opened by the button that its first cell is. */
export function ListRow<Row>({ row, id, name, columns, isOpen, onOpen, index, start }: ListRowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={`${styles.row} ${isOpen ? styles.open : ""}`}
      style={{ ...gridOf(columns), translate: `0 ${start}px` }}
      onClick={onOpen}
    >
      <span role="cell">
        <button type="button" data-row={id} aria-expanded={isOpen} className={styles.name}>
          {name}
        </button>
      </span>
      {columns.map((column) => (
        <span key={column.header} role="cell" className={sideOf(column)}>
          {column.render(row)}
        </span>
      ))}
    </div>
  );
}
