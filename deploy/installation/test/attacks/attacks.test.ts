import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { KINDS } from "../../../../services/sandbox/test/kinds/kinds.ts";
import { runToolgate, type TopologyKind } from "../running-toolgate.ts";
import { startAttacker } from "./attacker.ts";
import { startNeighbours } from "./neighbours.ts";

/** A round attacks with all kinds: half of them in each topology. The next one takes the other halves. */
const ROUNDS = Number(process.env.ATTACK_ROUNDS ?? 1);
const TOPOLOGIES: readonly TopologyKind[] = ["single", "split"];
const WARM_UP_CALLS = 15;
const DEADLINE_MS = ROUNDS * 600_000;

describe.each(TOPOLOGIES)("in the %s topology", (topology) => {
  const attacks = Array.from({ length: ROUNDS }, (_, round) =>
    KINDS.filter((_kind, index) => (index + round) % 2 === TOPOLOGIES.indexOf(topology)),
  ).flat();

  test(
    "[TOOL-2] a workspace that attacks through 16 tools and saves new versions costs other workspaces no run",
    async () => {
      await using toolgate = await runToolgate(topology);
      const neighbours = await startNeighbours(toolgate);
      const attacker = await startAttacker(toolgate);
      const over = new AbortController();
      const sending = neighbours.send(over.signal);
      while (neighbours.calls < WARM_UP_CALLS) await sleep(20);
      const attackCalls = await attacker.attack(attacks);
      over.abort();
      await sending;
      console.log(`${topology}: ${attackCalls.length} attacks, ${neighbours.calls} calls of neighbours`);
      expect(neighbours.lost).toEqual([]);
      expect(await neighbours.lostHookRuns()).toBe(0);
      // Each attack ended with a response: its own error, or a result if it is harmless.
      expect(attackCalls.filter(({ status }) => ![200, 400, 500].includes(status))).toEqual([]);
      expect(attackCalls.filter(({ status }) => status === 400).length).toBeGreaterThan(attacks.length / 4);
    },
    DEADLINE_MS,
  );
});
