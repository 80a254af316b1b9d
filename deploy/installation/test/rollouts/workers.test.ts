import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countDamage, NO_DAMAGE, summary } from "./counts.ts";
import { startLoad } from "./load.ts";
import { openRig, type Rig, THIS } from "./rig.ts";

const WORKER = "outbound-webhook-worker";
/** Before each change, so that every number of workers has work. */
const DELIVERIES = 60;

describe("delivery workers under load", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig(THIS, 1);
  }, 300_000);
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test("from 1 to 8 to 1 and again, no delivery is lost or repeated, and each has one attempt", async () => {
    const { cluster, receiver } = rig;
    const load = startLoad(rig.work);
    for (const replicas of [8, 1, 8, 1]) {
      const before = receiver.requests.length;
      await eventually(() => receiver.requests.length >= before + DELIVERIES);
      await cluster.scale(WORKER, replicas, THIS);
    }
    const damage = await countDamage(rig, load);
    console.log(summary(rig, load));
    expect(damage).toEqual(NO_DAMAGE);
  }, 600_000);
});
