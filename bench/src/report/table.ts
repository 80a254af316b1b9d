import type { Usage } from "../machine/meter.ts";
import type { LatencySummary } from "../statistics.ts";

type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** A Markdown table; the first column is text, the others are figures. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const heads = Object.keys(columns);
  const rule = line(heads.map((_, index) => (index === 0 ? "---" : "---:")));
  const cells = rows.map((row) => line(Object.values(columns).map((cell) => cell(row))));
  return [line(heads), rule, ...cells].join("\n");
}

export function latencyColumns<Row>(read: (row: Row) => LatencySummary, digits = 1): Columns<Row> {
  return {
    "p50 ms": (row) => figure(read(row).p50Ms, digits),
    "p99 ms": (row) => figure(read(row).p99Ms, digits),
    "max ms": (row) => figure(read(row).maxMs, 1),
  };
}

/** A figure with `digits` decimals; a dash when there is none. */
export function figure(value: number | undefined, digits = 0): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  return value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function percent(value: number): string {
  return `${figure(value * 100, 1)} %`;
}

export function mebibytes(bytes: number | undefined): string {
  return figure(bytes === undefined ? undefined : bytes / 1024 ** 2);
}

/** "gateway 127, redis 28". */
export function byName<Value>(values: Readonly<Record<string, Value>>, show: (value: Value) => string): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${show(value)}`)
    .join(", ");
}

/** Processors that programs outside the benchmark used, on average. */
export const foreignProcessors = ({ foreignCpuMs, tookMs }: Usage) => foreignCpuMs / tookMs;
