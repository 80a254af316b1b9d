import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { testClock } from "@toolgate/testbed/test-clock";
import { createNeighbours } from "@toolgate/workspace-share/neighbours";
import { ShareExceeded } from "@toolgate/workspace-share/turn";
import { expect, test } from "vitest";
import { createHookShares } from "./hook-shares.ts";

const KIB = 1024;

function startShares(bytesPerSecond: number) {
  const clock = testClock();
  const neighbours = createNeighbours(clock);
  const shares = createHookShares(bytesPerSecond, clock, neighbours);
  const outcomes = { begun: 0, refused: 0 };
  const call = async (workspaceId: string, bodyBytes = 10) => {
    try {
      using _turn = await shares.begin(workspaceId, bodyBytes);
      outcomes.begun += 1;
    } catch (error) {
      expect(error).toBeInstanceOf(ShareExceeded);
      outcomes.refused += 1;
    }
  };
  return { clock, neighbours, outcomes, call };
}

test("[FAIR] 86 calls of a workspace begin at once beside others, 170 a second follow, and those that may not wait are refused", async () => {
  const { clock, neighbours, outcomes, call } = startShares(8 * KIB * KIB);
  neighbours.note("quiet");
  const all = Array.from({ length: 400 }, () => call("noisy"));
  await eventLoopTurn();
  // 256 of them may wait.
  expect(outcomes).toEqual({ begun: 86, refused: 58 });
  await clock.pass(500);
  expect(outcomes).toEqual({ begun: 171, refused: 58 });
  await clock.pass(1_500);
  await Promise.all(all);
});

test("[FAIR] a call has its turn within 2 s, so that it can still be stored, or is refused", async () => {
  const { clock, neighbours, outcomes, call } = startShares(48 * KIB);
  neighbours.note("quiet");
  const all = Array.from({ length: 100 }, () => call("noisy"));
  await clock.pass(1_999);
  expect(outcomes).toEqual({ begun: 88, refused: 0 });
  await clock.pass(1);
  await Promise.all(all);
  expect(outcomes.begun + outcomes.refused).toBe(100);
});

test("[FAIR] calls that wait keep 8 MiB of bodies of a workspace at most", async () => {
  const { clock, outcomes, call } = startShares(1);
  const all = Array.from({ length: 50 }, () => call("noisy", 256 * KIB));
  await eventLoopTurn();
  // Three are begun and use up the share, and 32 wait.
  expect(outcomes).toEqual({ begun: 3, refused: 15 });
  await call("quiet", 256 * KIB);
  expect(outcomes.begun).toBe(4);
  await clock.pass(2_000);
  await Promise.all(all);
  expect(outcomes.refused).toBe(47);
});

test("[FAIR] a workspace that is alone waits for no number of small calls", async () => {
  const { outcomes, call } = startShares(1);
  await Promise.all(Array.from({ length: 2_000 }, () => call("alone")));
  expect(outcomes).toEqual({ begun: 2_000, refused: 0 });
});

test("[FAIR] however many workspaces have calls that wait, half of the places at a receiver stay free", async () => {
  const { clock, neighbours, outcomes, call } = startShares(1);
  neighbours.note("quiet");
  const workspaces = Array.from({ length: 20 }, (_, index) => `noisy-${index}`);
  const all = workspaces.flatMap((workspace) => Array.from({ length: 400 }, () => call(workspace)));
  await eventLoopTurn();
  expect(all.length - outcomes.begun - outcomes.refused).toBeLessThanOrEqual(2_048);
  await clock.pass(2_000);
  await Promise.all(all);
});
