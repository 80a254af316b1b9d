type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** A Markdown table; the first column is text, the others are figures. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const heads = Object.keys(columns);
  const rule = line(heads.map((_, index) => (index === 0 ? "---" : "---:")));
  return [line(heads), rule, ...rows.map((row) => line(Object.values(columns).map((cell) => cell(row))))].join("\n");
}

/** A figure with `digits` decimals; a dash when there is none. */
export function figure(value: number | undefined, digits = 0): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  return value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A figure and, in brackets, how many times the peer's it is. */
export function withRatio(value: number, peer: number, digits = 0): string {
  return `${figure(value, digits)} (${figure(value / peer, 2)}×)`;
}
