import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { PROCESSES, type Version } from "./cluster.ts";
import { countDamage, NO_DAMAGE } from "./damage.ts";
import { openRig, THIS } from "./rig.ts";
import { startWork } from "./work.ts";

/** A commit or tag of this repository: the version from which an installation is upgraded. */
const FROM = process.env.ROLLOUT_FROM;
if (FROM === undefined) test.skip("not run: an upgrade from an earlier version (ROLLOUT_FROM)", () => {});

const run = promisify(execFile);

test.runIf(FROM !== undefined)(
  `an upgrade from ${FROM}: nothing fails while it works on the new schema, and while all roles are replaced`,
  async () => {
    await using rig = await openRig({ version: await checkOut(FROM ?? "") });
    await using work = startWork(rig);
    await work.load.served();
    await rig.migrate(THIS);
    await work.load.served();
    await Promise.all(PROCESSES.map((process) => rig.cluster.roll(process, THIS)));
    await work.load.served();
    expect(await countDamage(rig, work)).toEqual(NO_DAMAGE);
  },
  1_200_000,
);

/** The sources of that version in a folder of their own, with its own packages. */
async function checkOut(from: string): Promise<Version> {
  const root = await temporaryFolder();
  const archive = join(root, "sources.tar");
  await run("git", ["-C", THIS.root, "archive", "--output", archive, from]);
  await run("tar", ["-x", "-f", archive, "-C", root]);
  await run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: root, maxBuffer: 1e8 });
  return { name: from, root };
}
