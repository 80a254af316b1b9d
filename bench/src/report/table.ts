/** A Markdown table; the first column is text, the others are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = line(head.map((_, index) => (index === 0 ? "---" : "---:")));
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** A figure with `digits` behind the point, thousands parted; a dash when there is none. */
export function figure(value: number | undefined, digits = 0): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  return value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function percent(value: number): string {
  return `${figure(value * 100, 1)} %`;
}

const MIB = 1024 ** 2;

export function mebibytes(bytes: number | undefined): string {
  return figure(bytes === undefined ? undefined : bytes / MIB);
}
