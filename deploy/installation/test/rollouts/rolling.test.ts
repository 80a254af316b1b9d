import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROCESSES } from "./cluster.ts";
import { countDamage, NO_DAMAGE, summary } from "./counts.ts";
import { startLoad } from "./load.ts";
import { openRig, type Rig, THIS } from "./rig.ts";

describe("two replicas of every role under load", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  }, 300_000);
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test("a rolling restart of every role fails no call, loses and repeats no delivery, and breaks no answer", async () => {
    const load = startLoad(rig.work);
    for (const process of PROCESSES) await rig.cluster.roll(process, THIS);
    const damage = await countDamage(rig, load);
    console.log(summary(rig, load));
    expect(damage).toEqual(NO_DAMAGE);
  }, 600_000);
});
