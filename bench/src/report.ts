import { cpus, totalmem } from "node:os";

/** What every part gets. */
export type BenchSettings = {
  /** A folder on a real disk for the servers' data. */
  dataDir: string;
  /** Length of a measured window. */
  seconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

/** One figure, next to that of a peer measured in the same run, where there is one. */
export type Row = { what: string; unit: string; toolgate: number; peer?: number; digits?: number; wanted?: string };

export type Part = {
  title: string;
  /** What is compared, in a few sentences. */
  text: string;
  rows: Row[];
};

export function renderReport(parts: readonly Part[], startedAt: Date): string {
  const [cpu] = cpus();
  const machine = `${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const head = `# Benchmark results

Made by \`make bench\` at ${startedAt.toISOString()} on ${machine}. Machines differ, so compare ratios within one run, not absolute
figures of different runs. *Wanted* is the published target.
`;
  return [head, ...parts.map(section)].join("\n");
}

function section({ title, text, rows }: Part): string {
  const hasPeer = rows.some(({ peer }) => peer !== undefined);
  const heads = hasPeer ? ["", "Toolgate", "peer", "ratio", "wanted"] : ["", "Toolgate", "wanted"];
  const cells = (row: Row) => {
    const own = show(row.toolgate, row);
    if (!hasPeer) return [row.what, own, row.wanted ?? ""];
    const peer = row.peer === undefined ? "" : show(row.peer, row);
    const ratio = row.peer === undefined ? "" : (row.toolgate / row.peer).toFixed(2);
    return [row.what, own, peer, ratio, row.wanted ?? ""];
  };
  const rule = heads.map((_, index) => (index === 0 ? "---" : "---:"));
  const lines = [heads, rule, ...rows.map(cells)].map((line) => `| ${line.join(" | ")} |`);
  return `## ${title}\n\n${text}\n\n${lines.join("\n")}\n`;
}

function show(value: number, { unit, digits = 0 }: Row): string {
  if (!Number.isFinite(value)) return "–";
  const number = value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === "" ? number : `${number} ${unit}`;
}
