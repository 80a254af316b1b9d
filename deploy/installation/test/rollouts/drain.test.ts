import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROCESSES } from "./cluster.ts";
import { countDamage, NO_DAMAGE, summary } from "./counts.ts";
import { startLoad } from "./load.ts";
import { openRig, type Rig, THIS } from "./rig.ts";

describe("one of two replicas gets SIGTERM under load", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  }, 300_000);
  afterAll(() => rig?.[Symbol.asyncDispose]());

  // The others learn of it only from the process itself. New connections to a gateway come from a Service, which knows.
  test("each role drains: no call fails, no delivery is lost or repeated, no answer breaks", async () => {
    const { cluster } = rig;
    const load = startLoad(rig.work);
    for (const process of PROCESSES) {
      const [pod] = cluster.pods(process);
      if (!pod) throw new Error(`no ${process} runs`);
      await cluster.stop(pod, { unannounced: process !== "gateway" });
      await cluster.scale(process, 2, THIS);
    }
    const damage = await countDamage(rig, load);
    console.log(summary(rig, load));
    expect(damage).toEqual(NO_DAMAGE);
  }, 600_000);
});
