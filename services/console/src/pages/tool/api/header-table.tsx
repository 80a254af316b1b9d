import type { ReactNode } from "react";
import { Table } from "../../../ui/page/table.tsx";
import styles from "./api-tab.module.css";

interface HeaderTableProps {
  /** What the second column has. */
  value: "Meaning" | "Value";
  headers: readonly (readonly [name: string, value: ReactNode])[];
}

/** Headers of a response. */
export function HeaderTable({ value, headers }: HeaderTableProps) {
  const rows = headers.map(([name, text]) => ({
    key: name,
    cells: [
      <code key="name" className={styles.name}>
        {name}
      </code>,
      text,
    ],
  }));
  return <Table columns={["Header", value]} rows={rows} />;
}
