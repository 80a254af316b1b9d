import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROCESSES, type Version } from "./cluster.ts";
import { countDamage, NO_DAMAGE, summary } from "./counts.ts";
import { type Load, startLoad } from "./load.ts";
import { openRig, type Rig, THIS } from "./rig.ts";

/** A commit or tag of this repository: the version from which an installation is upgraded. */
const FROM = process.env.ROLLOUT_FROM;
if (FROM === undefined) test.skip("not run: an upgrade from an earlier version (ROLLOUT_FROM)", () => {});

/** Of each kind, with each mixture of versions. */
const ROUNDS = 3;
const run = promisify(execFile);

describe.runIf(FROM !== undefined)(`an upgrade from ${FROM} under load`, () => {
  let rig: Rig;
  let load: Load;
  beforeAll(async () => {
    rig = await openRig(await checkOut(FROM ?? ""));
    load = startLoad(rig.work);
    await served(load);
  }, 600_000);
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test("nothing fails while the old version works on the new schema, and while all roles are replaced", async () => {
    await rig.migrate(THIS);
    await served(load);
    await Promise.all(PROCESSES.map((process) => rig.cluster.roll(process, THIS)));
    await served(load);
    const damage = await countDamage(rig, load);
    console.log(summary(rig, load));
    expect(damage).toEqual(NO_DAMAGE);
  }, 600_000);
});

/** The sources of that version in a folder of their own, with its own packages. */
async function checkOut(from: string): Promise<Version> {
  const root = await temporaryFolder();
  const archive = join(root, "sources.tar");
  await run("git", ["-C", THIS.root, "archive", "--output", archive, from]);
  await run("tar", ["-x", "-f", archive, "-C", root]);
  await run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: root, maxBuffer: 1e8 });
  return { name: from, root };
}

/** Waits until more work of each kind has been done. */
async function served({ done, failures }: Load): Promise<void> {
  const before = { ...done };
  const kinds = Object.keys(done) as (keyof typeof done)[];
  await eventually(() => failures.length > 0 || kinds.every((kind) => done[kind] >= before[kind] + ROUNDS), {
    deadlineMs: 120_000,
  });
}
