import { figure, table } from "../src/report/table.ts";
import type { Comparison } from "./compare.ts";
import { ENDPOINTS, type Figures, MEASURE_MS, QUIET, RECEIVER, type Scenario } from "./scenarios.ts";
import { COSTS, DEFAULT_INSTALLATION } from "./settings.ts";

const INTRO = `# Simulation of the delivery of webhooks

Written by \`node bench/simulate/run.ts\`: how dispatchers and workers share themselves out among up to 10,000 workspaces. It is a
discrete-event simulation: nothing waits in real time, and the same seed gives the same figures. The rules of the queue are those of
\`packages/postgres/src/fair-queue\`, written again in TypeScript (\`queue-model.ts\`): a test claims, settles and retries the same items in
PostgreSQL and in the model, and compares every claim. Caps, times, batches, messages and leases are the product's own
constants, and its function decides on retries (\`outcomeOf\`).

The simulation does not know locks, retries of transactions, garbage collection, the sizes of bodies, or a database whose disk or memory is
full. What a claim, a result and an attempt cost comes from \`bench/results.json\` (\`settings.ts\`), where only the sum for each program is
measured; how it divides into these is an estimate. So read the tables for what limits, for fairness and for how figures change, not
for the third digit.`;

/** The report as Markdown. */
export function renderSimulation(figures: Figures, comparisons: readonly Comparison[]): string {
  const { dispatchers, workerConcurrency, databaseProcessors } = DEFAULT_INSTALLATION;
  return `${INTRO}

## Against a real run

On one machine with two processors (single topology, \`node bench/simulate/measure-real.ts\`, all runs in \`real.json\`), at sizes that
are not those from which the costs were taken:

${table(comparisons, {
  "": ({ what }) => what,
  "real, each run": ({ real, unit }) => `${real.map((one) => figure(one, digitsOf(unit))).join(", ")} ${unit}`,
  simulated: ({ simulated, unit }) => `${figure(simulated, digitsOf(unit))} ${unit}`,
  "simulated to real": ({ real, simulated }) => real.map((one) => figure(simulated / one, 2)).join(", "),
})}

The real latency is from the event to the received webhook, the simulated one to the begin of the attempt. The machine was not quiet: the
throughput of its runs differs by a factor of two, with the same code, and the simulation lies within that at 50 endpoints and above it at
400, where it knows nothing of garbage collection and of the disk. Backlogs were measured in the last two runs only: in the first one they
did not last. In the second one the fan-out repeated batches whose settled notices were too large for NATS, which shows in the slowest event; that
is fixed in the third. What the runs confirm is the order of magnitude, equal shares, and that quiet workspaces do not wait below the limit.

## Throughput and fairness

Every workspace has a backlog that never ends, ${ENDPOINTS} endpoints, and receivers that respond after ${RECEIVER.medianMs} ms (median; 1 of 100
after more than 3 times that). ${dispatchers} dispatchers; workers with ${workerConcurrency} slots; each process has a processor of its own, and PostgreSQL
${databaseProcessors}. ${QUIET.workspaces} quiet workspaces have an event a second each. ${MEASURE_MS / 1_000} s are measured. *Fairness* is Jain's index of the deliveries of the workspaces
with a backlog: 1 when all get the same. *Quiet* is the time from an event of a quiet workspace to its first attempt; an event that has
not begun counts with its age.

${scenarios(figures.sizes)}

What limits: with few workspaces their slots (5 of each, so about 86 deliveries a second at 50 ms); then one worker's processor (about
3,800 a second); then the dispatchers' processors (about 4,500 a second each). Below the limit everybody gets the same, and a
quiet workspace waits for milliseconds.

**Above the limit of the workers** attempts wait in JetStream, at most 5 of each workspace, first come first served: fair, and the wait is
that queue's length. **Above the limit of the dispatchers** the order of claims decides: a workspace is served for its turn of 20 s, then it goes
behind all others that have work. So within a minute some get many times what others get, and a quiet workspace waits for its turn
as well: tens of seconds. (Waits of almost 65 s had not ended when the simulation did.) Keep the dispatchers below this limit: they scale.

## Dispatchers

10,000 workspaces with a backlog, 50 workers:

${scenarios(figures.dispatchers)}

More dispatchers raise the limit in proportion, as long as PostgreSQL has processors, and do not change the order of claims.

## Endpoints that never respond

100 workspaces, 5 workers; some of the 5 endpoints of each hang until the deadline of 10 s:

${scenarios(figures.hanging, { hanging: ({ hanging }) => `${figure(hanging * 5)} of 5` })}

## Shorter turns

What would change if a turn were shorter than the product's 20 s; 1,000 workspaces, 5 workers, 2 dispatchers at their limit:

${scenarios(figures.turns, { turn: ({ installation }) => `${figure((installation.turnMs ?? 0) / 1_000, 1)} s` })}

A turn of 2 s would shorten the longest wait more than tenfold and cost no throughput here.

## Costs

Processor time in µs, waits in ms:

\`\`\`json
${JSON.stringify(COSTS, null, 2)}
\`\`\`
`;
}

const digitsOf = (unit: Comparison["unit"]) => (unit === "/s" ? 0 : unit === "ms" ? 1 : 4);

function scenarios(rows: readonly Scenario[], more: Record<string, (row: Scenario) => string> = {}): string {
  return table(rows, {
    workspaces: ({ workspaces }) => figure(workspaces),
    ...more,
    dispatchers: ({ installation }) => figure(installation.dispatchers),
    workers: ({ installation }) => figure(installation.workers),
    "deliveries/s": ({ figures }) => figure(figures.perSecond),
    fairness: ({ figures }) => figure(figures.fairness, 3),
    "quiet p50 ms": ({ figures }) => figure(figures.quiet.p50Ms),
    "quiet worst ms": ({ figures }) => figure(Math.max(figures.quiet.maxMs, figures.quietWaiting.oldestMs)),
    "dispatchers in use": ({ figures }) => use(figures.use.dispatchers),
    "workers in use": ({ figures }) => use(Math.max(figures.use.workers, figures.use.slots)),
    "PostgreSQL in use": ({ figures }) => use(figures.use.database),
  });
}

const use = (share: number) => `${figure(Math.min(share, 1) * 100)} %`;
