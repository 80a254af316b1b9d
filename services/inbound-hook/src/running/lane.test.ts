import { createWakeUp } from "@toolgate/event-bus/wake-up";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, it } from "vitest";
import type { ClaimedDelivery } from "../store/runs/claim.ts";
import type { RunRecord } from "../store/runs/settle.ts";
import { laneLoops } from "./lane.ts";

const deliveryId = "0199f000-0000-7000-8000-000000000000";
const delivery = { claimId: "c", deliveryId, createdAt: new Date(0), workspaceId: "w", attempt: 1, run: undefined };

type Rules = { /** What storing a result finds. */ moreWaits?: boolean; concurrency?: number };

/** A lane that claims the given deliveries one after the other. A run ends when the test says so. */
function startLane(deliveries: readonly ClaimedDelivery[], { moreWaits = false, concurrency = 10 }: Rules = {}) {
  const ends = new Map(deliveries.map((one) => [one, Promise.withResolvers<void>()]));
  const claims = deliveries.map((one) => [one]);
  const lane = { stored: 0, signals: 0, waits: 0, renewed: [] as readonly { deliveryId: string }[], nowMs: 0 };
  const wakeUp = createWakeUp();
  const stop = new AbortController();
  const { producers, consumers = [] } = laneLoops({
    isDue: async () => true,
    claim: async () => ({ deliveries: claims.shift() ?? [], full: claims.length > 0 || concurrency === 1 }),
    undoClaim: async () => ({ found: 0, returned: 0 }),
    settling: {
      async settle(records) {
        lane.stored += records.length;
        return moreWaits;
      },
      unlockedOf: async (ids) => new Set(ids),
    },
    leases: {
      async renew(some) {
        lane.renewed = some;
      },
      interruptExpired: async () => 0,
    },
    async run(claimed) {
      await ends.get(claimed)?.promise;
      return { deliveryId, args: "", result: "", error: "" } as RunRecord;
    },
    perWorkspace: 1,
    concurrency,
    wakeUp: {
      ...wakeUp,
      signal() {
        lane.signals += 1;
        wakeUp.signal();
      },
      wait(...args) {
        lane.waits += 1;
        return wakeUp.wait(...args);
      },
    },
    now: () => new Date(lane.nowMs),
    onError: (error) => {
      throw error;
    },
  });
  const loops = [...producers, ...consumers].map((loop) => loop(stop.signal));
  return {
    lane,
    endRun: (of: ClaimedDelivery) => ends.get(of)?.resolve(),
    allClaimed: () => eventually(() => claims.length === 0),
    async [Symbol.asyncDispose]() {
      for (const { resolve } of ends.values()) resolve();
      stop.abort();
      await Promise.all(loops);
    },
  };
}

it("[IN-58] a run that was interrupted and ends late does not end the lease of the delivery's next run", async () => {
  const [first, second]: [ClaimedDelivery, ClaimedDelivery] = [{ ...delivery }, { ...delivery }];
  await using started = startLane([first, second]);
  const { lane } = started;
  await started.allClaimed();
  started.endRun(first);
  await eventually(() => lane.stored === 1);
  lane.nowMs += 60_000;
  await eventually(() => lane.renewed.length > 0);
  expect(lane.renewed).toEqual([second]);
});

/** How often a lane wakes itself up because its only run has ended. */
async function signalsAfterRun(rules: Rules): Promise<number> {
  const only: ClaimedDelivery = { ...delivery };
  const started = startLane([only], rules);
  await eventually(() => started.lane.waits > 0);
  started.endRun(only);
  await started[Symbol.asyncDispose]();
  expect(started.lane.stored).toBe(1);
  return started.lane.signals;
}

it("[FAIR-4] after a run, a lane claims again if more of its workspace waits, or if all places were taken", async () => {
  expect(await signalsAfterRun({})).toBe(0);
  expect(await signalsAfterRun({ moreWaits: true })).toBe(1);
  expect(await signalsAfterRun({ concurrency: 1 })).toBe(1);
});
