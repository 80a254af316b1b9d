import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PROCESSES, type Version } from "./cluster.ts";
import { countDamage, NO_DAMAGE, summary } from "./counts.ts";
import { type Load, startLoad } from "./load.ts";
import { checkOutPrevious, reasonAgainstPrevious } from "./previous.ts";
import { openRig, type Rig, THIS } from "./rig.ts";

const isAsked = process.env.ROLLOUTS === "1";
const reason = isAsked ? await reasonAgainstPrevious(THIS) : "make rollouts";
if (reason !== undefined) test.skip(`not run: a rollout from the previous version (${reason})`, () => {});

/** docs/operators.md: key-auth first, dispatchers before workers, gateways last. */
const DOCUMENTED_ORDER = ["key-auth", ...PROCESSES.filter((name) => name !== "key-auth")];
/** Of each kind, with each mixture of versions. */
const ROUNDS = 3;

describe.runIf(reason === undefined)("a rollout from the previous version under load", () => {
  let rig: Rig;
  let load: Load;
  beforeEach(async () => {
    const previous: Version = await checkOutPrevious(THIS);
    rig = await openRig(previous);
    load = startLoad(rig.work);
    await served(load);
    // From here on the previous version runs on the new schema.
    await rig.migrate(THIS);
    await served(load);
  }, 300_000);
  afterEach(() => rig?.[Symbol.asyncDispose]());

  test("role by role in the documented order, nothing fails, and the previous version works on the new schema", async () => {
    for (const process of DOCUMENTED_ORDER) await rig.cluster.roll(process, THIS);
    await expectNoDamage(rig, load);
  }, 600_000);

  test("all roles at the same time, as helm does it, nothing fails", async () => {
    await Promise.all(PROCESSES.map((process) => rig.cluster.roll(process, THIS)));
    await expectNoDamage(rig, load);
  }, 600_000);
});

async function expectNoDamage(rig: Rig, load: Load): Promise<void> {
  await served(load);
  const damage = await countDamage(rig, load);
  console.log(summary(rig, load));
  expect(damage).toEqual(NO_DAMAGE);
}

/** Waits until more work of each kind has been done. */
async function served({ done, failures }: Load): Promise<void> {
  const before = { ...done };
  const kinds = Object.keys(done) as (keyof typeof done)[];
  await eventually(() => failures.length > 0 || kinds.every((kind) => done[kind] >= before[kind] + ROUNDS), {
    deadlineMs: 120_000,
  });
}
