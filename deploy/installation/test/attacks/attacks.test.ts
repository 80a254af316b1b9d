import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { KINDS } from "../../../../services/tool-runner/test/sandbox/kinds/kinds.ts";
import { machine } from "../faults/report.ts";
import { runToolgate, type TopologyKind } from "../running-toolgate.ts";
import { startAttacker } from "./attacker.ts";
import { startNeighbours } from "./neighbours.ts";
import { type AttackRun, renderReport, summaryOf } from "./report.ts";

/**
 * `make attack`: all kinds, with the neighbours' times at a fixed rate. The short form has 16 kinds and counts only what is
 * lost, with one call of each neighbour at a time, so that it does not depend on the machine's speed.
 */
const REPORT_FILE = process.env.ATTACK_REPORT;
const TOPOLOGIES = (process.env.ATTACK_TOPOLOGIES?.split(",") ?? ["single", "split"]) as TopologyKind[];
const SHORT_KINDS = 16;
const SHORT_STEP = Math.ceil(KINDS.length / SHORT_KINDS);
const CHOSEN = KINDS.filter((_, index) => REPORT_FILE !== undefined || index % SHORT_STEP === 0);
const WARM_UP_CALLS = REPORT_FILE ? 400 : 15;
/** How long the neighbours are measured before the attack. */
const ALONE_MS = REPORT_FILE ? 30_000 : 1_000;
const DEADLINE_MS = 600_000;

const runs: AttackRun[] = [];

describe.each(TOPOLOGIES)("in the %s topology", (kind) => {
  test(
    "[TOOL-2] a workspace that attacks through 16 tools and saves new versions costs other workspaces no run",
    async () => {
      const startedAt = new Date().toISOString();
      await using toolgate = await runToolgate(kind);
      const neighbours = await startNeighbours(toolgate);
      const attacker = await startAttacker(toolgate);
      const over = new AbortController();
      const sending = REPORT_FILE ? neighbours.sendAtRate(over.signal) : neighbours.sendInTurn(over.signal);
      while (neighbours.calls.length < WARM_UP_CALLS) await sleep(20);
      const aloneFromMs = performance.now();
      await sleep(ALONE_MS);
      const attackFromMs = performance.now();
      const attackCalls = await attacker.attack(CHOSEN);
      const attackUntilMs = performance.now();
      over.abort();
      await sending;
      const lostHookRuns = await neighbours.lostHookRuns();
      const times = { aloneFromMs, attackFromMs, attackUntilMs };
      const run = summaryOf({
        topology: kind,
        startedAt,
        machine: machine(),
        ...times,
        calls: neighbours.calls,
        attackCalls,
        lostHookRuns,
      });
      runs.push(run);
      console.log(JSON.stringify(run, null, 1));
      expect(run.lostAfterFirstSecond).toEqual([]);
      expect(lostHookRuns).toBeLessThanOrEqual(run.lostInFirstSecond);
      expect(attackCalls).toHaveLength(CHOSEN.length);
      // Each attack ended with a response: its own error, or a result if it is harmless.
      expect(attackCalls.filter(({ status }) => ![200, 400, 500].includes(status))).toEqual([]);
      if (REPORT_FILE)
        expect(attackCalls.filter(({ status }) => status === 400).length).toBeGreaterThan(CHOSEN.length / 4);
    },
    DEADLINE_MS,
  );
});

afterAll(async () => {
  if (REPORT_FILE && runs.length === TOPOLOGIES.length) await writeReport(REPORT_FILE);
});

/** A run of one topology replaces its figures, and keeps those of the other. */
async function writeReport(file: string): Promise<void> {
  const dataFile = file.replace(/[^/]+\.md$/, (name) => `${name.slice(0, -".md".length).toLowerCase()}.json`);
  const earlier: AttackRun[] = await readFile(dataFile, "utf8").then(JSON.parse, () => []);
  const kept = earlier.filter(({ topology }) => !runs.some((run) => run.topology === topology));
  const all = [...kept, ...runs].sort((a, b) => a.topology.localeCompare(b.topology));
  await writeFile(dataFile, `${JSON.stringify(all, null, 2)}\n`);
  await writeFile(file, renderReport(all));
}
