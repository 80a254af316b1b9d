import type { CallCosts } from "../call-stream/read-table.ts";
import { ratio } from "../statistics.ts";
import { figure, percent, table } from "./table.ts";

export function renderCallStream(costs: readonly CallCosts[]): string {
  const tables = costs.flatMap(({ concurrency, rows }) => {
    const base = rows[0]?.cpuUs ?? Number.NaN;
    return [
      `${concurrency} at once, CPU of client and server together:`,
      table(
        ["", "calls/s", "CPU µs/call", "of it client", "mean ms", "of unary"],
        rows.map(({ name, perSecond, cpuUs, clientUs, meanMs }) => [
          name,
          figure(perSecond),
          figure(cpuUs, 1),
          figure(clientUs, 1),
          figure(meanMs, 3),
          percent(ratio(cpuUs, base)),
        ]),
      ),
    ];
  });
  return ["## Calls between services", ...tables].join("\n\n");
}
