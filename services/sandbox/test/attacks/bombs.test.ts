import { describe, expect, it } from "vitest";
import type { SandboxPool } from "../../src/pool.ts";
import { attackSource, KINDS } from "../kinds/kinds.ts";
import { quietRuns, tableRow } from "../quiet-workspace.ts";
import { openPool, runSource, startNeighbours, until } from "../sandbox-harness.ts";

const TOOLS = 16;
/** `make attack` runs the bombs several times with the real limits. */
const ROUNDS = Number(process.env.ATTACK_ROUNDS ?? 0);
const SHORT_CPU_MS = 100;
const SHORT_STEP = 5;
/** The short form takes one kind in five. */
const CHOSEN = KINDS.filter((_, index) => ROUNDS > 0 || index % SHORT_STEP === 0);
const DEADLINE_MS = 600_000 + ROUNDS * 600_000;

/** One workspace runs every bomb through 16 tools, saving a new version for each. */
async function attack(pool: SandboxPool, total: number, cpuMs: number) {
  let bombs = 0;
  const kinds = new Map<string, number>();
  const tool = async (name: number) => {
    while (bombs < total) {
      const number = bombs;
      bombs += 1;
      const source = attackSource(CHOSEN[number % CHOSEN.length]?.body ?? "", number);
      const { kind } = await runSource(pool, source, {
        workspaceId: "attacker",
        codeKey: `attacker/${name}/${number}`,
        args: { first: number % 2 === 0 },
        limits: { cpuMs, wallMs: DEADLINE_MS },
      });
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: TOOLS }, (_, name) => tool(name)));
  return { bombs, kinds };
}

describe("bombs of one workspace, beside the runs of another", () => {
  it(
    "[TOOL-2] new versions that harm their child cost the other workspace no run, and do not slow it down",
    async () => {
      await using pool = openPool();
      const neighbours = startNeighbours(pool);
      await until("neighbours at work", () => neighbours.runs() >= 200);
      const alone = await quietRuns(pool, (runs) => runs === 300);
      let isOver = false;
      const beside = quietRuns(pool, () => isOver);
      const { bombs, kinds } = await attack(
        pool,
        Math.max(1, ROUNDS) * CHOSEN.length,
        ROUNDS > 0 ? 1_000 : SHORT_CPU_MS,
      );
      isOver = true;
      const times = await beside;
      const at = neighbours.runs();
      await until("neighbours continue", () => neighbours.runs() >= at + 100);
      const { runs, failures } = await neighbours.stop();
      console.log(
        `${bombs} bombs ${JSON.stringify(Object.fromEntries(kinds))}, ${runs} runs of the neighbour, ${failures.length} lost`,
      );
      console.log(tableRow(`${CHOSEN.length} kinds of bombs`, alone, times));
      expect(failures).toEqual([]);
      // The bombs did go off, and ended only each other.
      const wentOff = ["cpu", "memory", "interrupted"].map((kind) => kinds.get(kind) ?? 0);
      expect(wentOff.reduce((sum, count) => sum + count)).toBeGreaterThan(CHOSEN.length / 3);
    },
    DEADLINE_MS,
  );
});
