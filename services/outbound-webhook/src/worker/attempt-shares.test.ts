import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { PROCESS_NEIGHBOURS } from "@toolgate/workspace-share/neighbours";
import { expect, test } from "vitest";
import { createAttemptShares } from "./attempt-shares.ts";

const ATTEMPTS = 200;

/** How many small attempts of a workspace are reported at once. */
async function reportedAtOnce(workspaceId: string): Promise<number> {
  const shares = createAttemptShares(1);
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
  PROCESS_NEIGHBOURS.note("noisy");
  expect(await reportedAtOnce("noisy")).toBe(ATTEMPTS);
  PROCESS_NEIGHBOURS.note("quiet");
  // 1 MiB at 8 KiB each, and one for the time that has passed.
  expect([128, 129]).toContain(await reportedAtOnce("noisy"));
});
