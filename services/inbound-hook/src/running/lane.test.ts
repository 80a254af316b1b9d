import { createWakeUp } from "@toolgate/event-bus/wake-up";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, it } from "vitest";
import type { ClaimedDelivery } from "../store/runs/claim.ts";
import type { RunRecord } from "../store/runs/settle.ts";
import { laneLoops } from "./lane.ts";

it("[IN-58] a run that was interrupted and ends late does not end the lease of the delivery's next run", async () => {
  const deliveryId = "0199f000-0000-7000-8000-000000000000";
  const delivery = { claimId: "c", deliveryId, createdAt: new Date(0), workspaceId: "w", attempt: 1, run: undefined };
  const [first, second]: [ClaimedDelivery, ClaimedDelivery] = [{ ...delivery }, { ...delivery }];
  const ends = new Map([first, second].map((one) => [one, Promise.withResolvers<void>()]));
  const claims = [[first], [second]];
  let stored = 0;
  let renewed: readonly { deliveryId: string }[] = [];
  let nowMs = 0;
  const wakeUp = createWakeUp();
  const { producers, consumers = [] } = laneLoops({
    isDue: async () => true,
    claim: async () => ({ deliveries: claims.shift() ?? [], full: claims.length > 0 }),
    undoClaim: async () => ({ found: 0, returned: 0 }),
    settling: {
      async settle(records) {
        stored += records.length;
      },
      unlockedOf: async (ids) => new Set(ids),
    },
    leases: {
      async renew(deliveries) {
        renewed = deliveries;
      },
      interruptExpired: async () => 0,
    },
    async run(claimed) {
      await ends.get(claimed)?.promise;
      return { deliveryId, args: "", result: "", error: "" } as RunRecord;
    },
    perWorkspace: 1,
    concurrency: 10,
    wakeUp,
    now: () => new Date(nowMs),
    onError: (error) => {
      throw error;
    },
  });
  const stop = new AbortController();
  const loops = [...producers, ...consumers].map((loop) => loop(stop.signal));
  try {
    await eventually(() => claims.length === 0);
    ends.get(first)?.resolve();
    await eventually(() => stored === 1);
    nowMs += 60_000;
    await eventually(() => renewed.length > 0);
    expect(renewed).toEqual([second]);
  } finally {
    ends.get(second)?.resolve();
    stop.abort();
    await Promise.all(loops);
  }
});
