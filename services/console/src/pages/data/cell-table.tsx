import styles from "./data.module.css";

interface CellTableProps {
  label: string;
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  /** Numbers the rows, beginning with this one. */
  firstRow?: number;
}

/** Cells of a database or a sheet, as text and never as HTML. Wide ones scroll. */
export function CellTable({ label, columns, rows, firstRow }: CellTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div role="region" aria-label={label} tabIndex={0} className={styles.cells}>
      <table>
        <thead>
          <tr>
            {firstRow !== undefined && <td />}
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name than their place
            <tr key={index}>
              {firstRow !== undefined && <th scope="row">{firstRow + index}</th>}
              {columns.map((column, place) => (
                <td key={column}>{textOf(row[place])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}
