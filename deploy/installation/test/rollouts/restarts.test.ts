import { expect, test } from "vitest";
import { PROCESSES } from "./cluster.ts";
import { countDamage, NO_DAMAGE } from "./damage.ts";
import { openRig, THIS } from "./rig.ts";
import { startWork } from "./work.ts";

const WORKER = "outbound-webhook-worker";

test("while every role is stopped, replaced and scaled, no call fails, no delivery is lost or repeated, and no answer breaks", async () => {
  await using rig = await openRig();
  const { cluster } = rig;
  await using work = startWork(rig);
  for (const process of PROCESSES) {
    const [pod] = cluster.pods(process);
    if (!pod) throw new Error(`no ${process} runs`);
    // The others learn only from the process itself that it stops. New connections to a gateway come from a Service, which knows.
    await cluster.stop(pod, { unannounced: process !== "gateway" });
    await cluster.scale(process, 2, THIS);
    await cluster.roll(process, THIS);
  }
  for (const replicas of [8, 1, 8, 1]) {
    await work.load.served();
    await cluster.scale(WORKER, replicas, THIS);
  }
  expect(await countDamage(rig, work)).toEqual(NO_DAMAGE);
}, 1_200_000);
