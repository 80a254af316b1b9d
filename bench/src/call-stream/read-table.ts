export type CallCost = { name: string; perSecond: number; cpuUs: number; clientUs: number; meanMs: number };
export type CallCosts = { concurrency: number; rows: CallCost[] };

const HEADING = /^concurrency (\d+)$/;
const COLUMNS = { perSecond: "calls/s", cpuUs: "CPU µs/call", clientUs: "of it client", meanMs: "mean ms" } as const;

/** Reads what `call-stream.ts` prints: a heading and a table for each concurrency. */
export function readCallCosts(text: string): CallCosts[] {
  const found: CallCosts[] = [];
  let columns: string[] = [];
  for (const line of text.split("\n")) {
    const concurrency = HEADING.exec(line.trim())?.[1];
    if (concurrency) found.push({ concurrency: Number(concurrency), rows: [] });
    if (!line.startsWith("│")) continue;
    const cells = line.split("│").map((cell) => cell.trim().replace(/^'(.*)'$/, "$1"));
    if (cells[1] === "(index)") columns = cells;
    else found.at(-1)?.rows.push(readRow(cells, columns));
  }
  return found;
}

function readRow(cells: string[], columns: string[]): CallCost {
  const cell = (column: string) => Number(cells[columns.indexOf(column)]);
  return {
    name: cells[1] ?? "",
    perSecond: cell(COLUMNS.perSecond),
    cpuUs: cell(COLUMNS.cpuUs),
    clientUs: cell(COLUMNS.clientUs),
    meanMs: cell(COLUMNS.meanMs),
  };
}
