import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { testClock } from "@toolgate/testbed/test-clock";
import { createNeighbours, type Neighbours } from "@toolgate/workspace-share/neighbours";
import { expect, test } from "vitest";
import { createAttemptShares } from "./attempt-shares.ts";

const ATTEMPTS = 200;

/** How many small attempts of a workspace are reported at once. */
async function reportedAtOnce(workspaceId: string, others: Neighbours): Promise<number> {
  const shares = createAttemptShares(1, testClock(), others);
  const ending = new AbortController();
  let reported = 0;
  const all = Array.from({ length: ATTEMPTS }, async () => {
    using _turn = await shares.begin(workspaceId, 100, () => ending.signal);
    reported += 1;
  });
  await eventLoopTurn();
  const atOnce = reported;
  ending.abort();
  await Promise.allSettled(all);
  return atOnce;
}

test("[FAIR] small attempts of a workspace count while others have calls, and not while it is alone", async () => {
  const others = createNeighbours(testClock());
  others.note("noisy");
  expect(await reportedAtOnce("noisy", others)).toBe(ATTEMPTS);
  others.note("quiet");
  // 1 MiB at 8 KiB each.
  expect(await reportedAtOnce("noisy", others)).toBe(128);
});
