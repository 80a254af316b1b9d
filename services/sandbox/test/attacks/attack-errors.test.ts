import { expect, it } from "vitest";
import type { SandboxPool } from "../../src/pool.ts";
import type { SandboxOutcome } from "../../src/request.ts";
import { type AttackKind, attackSource, KINDS } from "../kinds/kinds.ts";
import { openPool, resultOf, runSource, startNeighbours, until } from "../sandbox-harness.ts";

const ATTACKERS = 4;
const DEADLINE_MS = 600_000;
const LIMITS = { cpuMs: 100, wallMs: DEADLINE_MS };
/** What a run can end with for which only its own code is to blame. */
const OWN_ERRORS = ["ok", "threw", "cpu", "memory", "result-too-large", "unserializable", "too-many-host-calls"];
const MAX_MESSAGE_CHARS = 2_000;

it(
  "[TOOL-2] each kind of attack ends with an error of its own, and costs other workspaces no run",
  async () => {
    await using pool = openPool({ killGraceMs: 100 });
    const neighbours = startNeighbours(pool);
    await until("neighbours at work", () => neighbours.runs() >= 100);
    const outcomes: { kind: AttackKind; number: number; outcome: SandboxOutcome }[] = [];
    let next = 0;
    const attacker = async () => {
      for (let kind = KINDS[next]; kind !== undefined; kind = KINDS[next]) {
        const number = next;
        next += 1;
        outcomes.push({ kind, number, outcome: await attack(pool, kind, number) });
      }
    };
    await Promise.all(Array.from({ length: ATTACKERS }, attacker));
    const { runs, failures } = await neighbours.stop();
    const counts = Object.entries(Object.groupBy(outcomes, ({ outcome }) => outcome.kind));
    console.log(runs, "runs of the neighbours;", ...counts.map(([name, all]) => `${name} ${all?.length}`));
    expect(failures).toEqual([]);
    const unclear = outcomes.filter(({ outcome }) => !OWN_ERRORS.includes(outcome.kind) || !isClear(outcome));
    expect(unclear).toEqual([]);
    // A workspace that attacked may go on with tools that harm nobody.
    expect(await resultOf(pool, "export default () => 2", { workspaceId: "attacker-1" })).toBe(2);
  },
  DEADLINE_MS,
);

/** Every other tool calls the host before it attacks. */
const callsHostFirst = (number: number) => number % 2 === 1;

/** Each in a workspace of its own, so that nothing but the attack itself can end its run. */
function attack(pool: SandboxPool, { body }: AttackKind, number: number): Promise<SandboxOutcome> {
  const workspaceId = `attacker-${number}`;
  const args = { first: callsHostFirst(number) };
  return runSource(pool, attackSource(body), { workspaceId, args, limits: LIMITS });
}

function isClear(outcome: SandboxOutcome): boolean {
  if (outcome.kind === "ok") return true;
  return outcome.message.length <= MAX_MESSAGE_CHARS && (outcome.kind === "threw" || outcome.message !== "");
}
