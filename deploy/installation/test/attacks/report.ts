import { table } from "../faults/report.ts";
import type { TopologyKind } from "../running-toolgate.ts";
import type { AttackCall } from "./attacker.ts";
import { NEIGHBOUR_KINDS, type NeighbourKind, type Neighbours } from "./neighbours.ts";

const FIRST_SECOND_MS = 1_000;
const WANTED_P50 = 2;
const WANTED_P99 = 3;

interface Observed {
  topology: TopologyKind;
  startedAt: string;
  machine: string;
  /** Of the monotonic clock. */
  aloneFromMs: number;
  attackFromMs: number;
  attackUntilMs: number;
  calls: Neighbours["calls"];
  attackCalls: readonly AttackCall[];
  lostHookRuns: number;
}

interface Times {
  kind: NeighbourKind;
  calls: number;
  alone: Quantiles;
  beside: Quantiles;
}

type Quantiles = { p50: number; p99: number };

/** What one attack cost the neighbours. */
export interface AttackRun {
  topology: TopologyKind;
  startedAt: string;
  machine: string;
  node: string;
  attackSeconds: number;
  times: Times[];
  lostInFirstSecond: number;
  lostAfterFirstSecond: string[];
  lostHookRuns: number;
  /** Kinds of attacks by topic and status. */
  responses: Record<string, Record<string, number>>;
}

export function summaryOf(observed: Observed): AttackRun {
  const { topology, startedAt, machine, aloneFromMs, attackFromMs, attackUntilMs, calls, attackCalls, lostHookRuns } =
    observed;
  const between = (from: number, until: number) => calls.filter(({ sentAtMs: at }) => at >= from && at < until);
  const alone = between(aloneFromMs, attackFromMs);
  const beside = between(attackFromMs, attackUntilMs);
  const isLost = ({ lost }: { lost: string | undefined }) => lost !== undefined;
  const responses: AttackRun["responses"] = {};
  for (const { kind, status } of attackCalls) {
    responses[kind.topic] ??= {};
    const ofTopic = responses[kind.topic] as Record<string, number>;
    ofTopic[status] = (ofTopic[status] ?? 0) + 1;
  }
  return {
    topology,
    startedAt,
    machine,
    node: process.version,
    attackSeconds: Math.round((attackUntilMs - attackFromMs) / 1000),
    times: NEIGHBOUR_KINDS.map((kind) => {
      const ofKind = (all: Neighbours["calls"]) => all.filter((call) => call.kind === kind).map(({ tookMs }) => tookMs);
      return { kind, calls: ofKind(beside).length, alone: quantiles(ofKind(alone)), beside: quantiles(ofKind(beside)) };
    }),
    lostInFirstSecond: between(attackFromMs, attackFromMs + FIRST_SECOND_MS).filter(isLost).length,
    lostAfterFirstSecond: between(attackFromMs + FIRST_SECOND_MS, Number.POSITIVE_INFINITY)
      .filter(isLost)
      .map(({ kind, lost }) => `${kind}: ${lost}`),
    lostHookRuns,
    responses,
  };
}

function quantiles(times: number[]): Quantiles {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

export function renderReport(runs: readonly AttackRun[]): string {
  return `# Attacks

One workspace saves every kind of attack in \`services/tool-runner/test/sandbox/kinds\` as a new version of one of its 16 tools,
through the management API, and calls it with its API key, 16 at the same time; every second one calls the host before it
attacks. A second workspace saves sources that take long to check. Meanwhile three other workspaces send calls at a fixed rate:
of a plain tool, of a tool that calls another one, and to a hook.

\`make attack\` makes this page again (\`ATTACK_TOPOLOGIES\`: the topologies to measure, separated by commas; the figures of
others stay).

${runs.map(({ topology, startedAt, machine, node }) => `- ${topology}: ${startedAt}, ${machine}, Node ${node}`).join("\n")}

## What the neighbours lose

| topology | attacks | seconds | calls of the neighbours | lost in the first second | lost after it | hook runs lost | wanted |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${runs.map(lossRow).join("\n")}

## How much slower they are

From the time at which a call was due until its response. *Alone* is the half minute before the attack.

${table(
  [
    "Calls",
    "topology",
    "p50 alone",
    "p50 in the attack",
    "times",
    "wanted",
    "p99 alone",
    "p99 in the attack",
    "times",
    "wanted",
  ],
  runs.flatMap(({ topology, times }) =>
    times.map(({ kind, alone, beside }) => [
      kind,
      topology,
      ms(alone.p50),
      ms(beside.p50),
      (beside.p50 / alone.p50).toFixed(1),
      `≤ ${WANTED_P50}`,
      ms(alone.p99),
      ms(beside.p99),
      (beside.p99 / alone.p99).toFixed(1),
      `≤ ${WANTED_P99}`,
    ]),
  ),
)}

## What the attacker gets

400 is the attack's own error, such as its CPU or memory limit. 200: it did no harm, or ended before its limit. 500: a run of the
attacker itself was cut off, because another of its attacks ended the process that they shared, or waited until its time was up.

${table(
  ["Attacks", "topology", "200", "400", "500", "other"],
  runs.flatMap(({ topology, responses }) =>
    Object.entries(responses).map(([topic, counts]) => {
      const { 200: ok = 0, 400: refused = 0, 500: cut = 0, ...others } = counts;
      const other = Object.values(others).reduce((sum, count) => sum + count, 0);
      return [topic, topology, ok, refused, cut, other];
    }),
  ),
)}
`;
}

function lossRow({ topology, attackSeconds, times, responses, ...lost }: AttackRun): string {
  const attacks = Object.values(responses).flatMap((counts) => Object.values(counts));
  const sum = (numbers: number[]) => numbers.reduce((total, count) => total + count, 0);
  const calls = sum(times.map((row) => row.calls));
  return `| ${topology} | ${sum(attacks)} | ${attackSeconds} | ${calls} | ${lost.lostInFirstSecond} | ${lost.lostAfterFirstSecond.length} | ${lost.lostHookRuns} | 0 |`;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
