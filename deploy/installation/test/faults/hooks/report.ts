import { machine, median, seconds, table } from "../report.ts";
import { added, type HookCosts } from "./tally.ts";

interface HookFaultReport {
  startedAt: Date;
  seed: number;
  costs: readonly HookCosts[];
}

export function renderHookReport({ startedAt, seed, costs }: HookFaultReport): string {
  const total = costs.reduce(added);
  return `# Faults and hooks

Each process and server that takes part in the calls of hooks is killed with SIGKILL at random moments and in random order, while
senders call three hooks. A sender repeats a call under the same id until it gets a 202 or a 200. The tool tells a server outside
that it runs, so that no run can go unnoticed. \`make faults\` makes this page again.

- Run: ${startedAt.toISOString()}, seed ${seed}
- Machine: ${machine()}
- Processes: gateway, key-auth, tool-runner, outbound-webhook, and inbound-hook as receiver x2 and runner x2; one PostgreSQL, one
  NATS, one Redis. All on this machine.

| | measured | wanted |
| --- | ---: | ---: |
| Kills, calls | ${total.kills}, ${total.calls} | |
| Accepted calls that are not stored | ${total.lost} | 0 |
| Calls stored or run more than once | ${total.twice} | 0 |
| Stored calls that did not run although the log says so, or that have not ended | ${total.untraced} | 0 |

*Repeated*: requests that got a 5xx or no response. *Failed*: the run's outcome is not known because tool-runner was killed, or it could
not start; *interrupted*: the runner was killed. Both are in the hook log, and neither is repeated. Times in seconds, from the kill:
*down* until the victim took work again, *accepting* and *running* until the first call that was made after the kill was accepted, and
ran.

${table(
  [
    "Victim",
    "kills",
    "calls",
    "repeated",
    "stored",
    "ran once",
    "failed",
    "interrupted",
    "lost",
    "twice",
    "down, median",
    "accepting, median",
    "accepting, most",
    "running, median",
    "running, most",
  ],
  [...costs, { ...total, victim: "**all**" }].map((row) => [
    row.victim,
    row.kills,
    row.calls,
    row.repeated,
    row.stored,
    row.ranOnce,
    row.failed,
    row.interrupted,
    row.lost,
    row.twice,
    seconds(median(row.downMs)),
    seconds(median(row.acceptingMs)),
    seconds(Math.max(...row.acceptingMs)),
    seconds(median(row.runningMs)),
    seconds(Math.max(...row.runningMs)),
  ]),
)}
`;
}
