import { cpus } from "node:os";
import type { KillCost, Measurement } from "./measure.ts";

/** The longest silence that one kill may cause. */
export const MAX_SILENCE_MS = 10_000;

interface Row {
  victim: string;
  kills: number;
  backlogMs: number;
  liveMs: number;
  downMs: number;
  repeated: number;
}

export function rowsOf(kills: readonly KillCost[]): Row[] {
  return [...Map.groupBy(kills, ({ victim }) => victim)].map(([victim, own]) => ({
    victim,
    kills: own.length,
    backlogMs: Math.max(...own.map(({ backlogSilenceMs }) => backlogSilenceMs)),
    liveMs: Math.max(...own.map(({ liveSilenceMs }) => liveSilenceMs)),
    downMs: Math.max(...own.map(({ downMs }) => downMs)),
    repeated: own.reduce((sum, { repeated }) => sum + repeated, 0),
  }));
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);

/** The page of what `make silence` has measured. */
export function renderReport(measurements: readonly Measurement[], run: { at: Date; seed: number }): string {
  const [cpu] = cpus();
  return `# Silences

How long an endpoint gets nothing when one part of an installation is killed with SIGKILL. Every part is killed in turn under a
steady load of deliveries and starts again by itself. \`make silence\` makes this page again (\`SILENCE_ROUNDS\`: kills of each,
\`SILENCE_ONLY\`: names separated by semicolons, \`SILENCE_SEED\`: repeats the same moments).

- Run: ${run.at.toISOString()}, seed ${run.seed}
- Machine: ${cpus().length} cores (${cpu?.model.trim()}); other programs ran at the same time
- Wanted: at most ${seconds(MAX_SILENCE_MS)} s, whichever part dies, and nothing lost

${measurements.map(renderTopology).join("\n")}
## How it is measured

- *Backlog*: the longest time without a request at any of four endpoints of which each always has deliveries waiting and both
  slots in use (its receiver responds after 0.2 s). Normally 0.2 s.
- *Live*: the same at two endpoints that get an event of each tool call. Three callers call all the time, so this includes the
  time in which no call succeeds: without a second process of its kind, as long as the killed one is *down*.
- *Down*: from the kill until the process is ready or the server accepts connections again. Processes are started again after
  0.2 s or more; servers stay down for 0.4 to 1.5 s.
- *Lost*: accepted events that an endpoint had not got two minutes after the last kill. *Repeated*: requests with the
  \`X-Service-Delivery\` of an earlier one, from the kill until all endpoints get requests again.
`;
}

function renderTopology({ kind, kills, deliveries, lost }: Measurement): string {
  const lines = rowsOf(kills).map(
    ({ victim, kills: count, backlogMs, liveMs, downMs, repeated }) =>
      `| ${victim} | ${count} | ${seconds(backlogMs)} | ${seconds(liveMs)} | ${seconds(downMs)} | ${repeated} | ${Math.max(backlogMs, liveMs) <= MAX_SILENCE_MS ? "PASS" : "missed"} |`,
  );
  return `## ${kind === "single" ? "Single topology" : "Split topology"}

${deliveries} deliveries, ${lost} lost.

| killed | kills | longest silence, backlog, s | longest silence, live, s | down, at most, s | repeated | at most 10 s |
| --- | ---: | ---: | ---: | ---: | ---: | --- |
${lines.join("\n")}
`;
}
