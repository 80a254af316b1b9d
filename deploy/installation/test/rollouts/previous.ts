import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import type { Version } from "./cluster.ts";

/**
 * The version from which the mixed rollout starts. Choose the last release; before the first one, a commit before the latest
 * migrations (ROLLOUT_FROM).
 */
const PREVIOUS = process.env.ROLLOUT_FROM ?? "9c825d8a6883ee08b4a9769283d344d8f03e896d";
const WORKSPACE_FOLDERS = ["packages", "services", "deploy"];
const SCOPE = "@toolgate";
/** A sandbox child sees only the folders of these, and so no other folder to which they could be links. */
const OF_SANDBOX = ["isolated-vm", "node-gyp-build"];

type Lock = { packages: Record<string, { version?: string; dev?: boolean; link?: boolean }> };

const run = promisify(execFile);

/** Why the previous version cannot be started from here; undefined when it can. */
export async function reasonAgainstPrevious({ root }: Version): Promise<string | undefined> {
  const shown = await run("git", ["-C", root, "show", `${PREVIOUS}:package-lock.json`], { maxBuffer: 1e8 }).catch(
    () => undefined,
  );
  if (!shown) return `there is no commit ${PREVIOUS} here`;
  const before = JSON.parse(shown.stdout) as Lock;
  const now = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as Lock;
  const others = Object.entries(before.packages).filter(
    ([path, { version, dev, link }]) =>
      path.includes("node_modules/") && !dev && !link && now.packages[path]?.version !== version,
  );
  return others.length > 0 ? `${PREVIOUS} needs other packages: ${others.map(([path]) => path).join(", ")}` : undefined;
}

/** Its sources from git in a folder of their own, with the packages of this version. */
export async function checkOutPrevious({ root }: Version): Promise<Version> {
  const folder = await temporaryFolder();
  const archive = join(folder, "sources.tar");
  await run("git", ["-C", root, "archive", "--output", archive, PREVIOUS]);
  await run("tar", ["-x", "-f", archive, "-C", folder]);
  await linkPackages(join(root, "node_modules"), join(folder, "node_modules"));
  for (const kind of WORKSPACE_FOLDERS) {
    for (const name of await readdir(join(folder, kind))) {
      const nested = join(kind, name, "node_modules");
      if ((await namesIn(join(root, nested))).length > 0) await symlink(join(root, nested), join(folder, nested));
    }
  }
  return { name: "previous version", root: folder };
}

/** Links to the same packages, but to the workspaces of the folder itself. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(join(to, SCOPE), { recursive: true });
  for (const name of await namesIn(from)) {
    if (name === SCOPE) continue;
    if (OF_SANDBOX.includes(name)) await cp(join(from, name), join(to, name), { recursive: true });
    else await symlink(join(from, name), join(to, name));
  }
  for (const name of await namesIn(join(from, SCOPE)))
    await symlink(await readlink(join(from, SCOPE, name)), join(to, SCOPE, name));
}

const namesIn = (folder: string) => readdir(folder).catch(() => []);
