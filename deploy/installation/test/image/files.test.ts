import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programNames } from "../../src/programs.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const run = promisify(execFile);
let folder = "";

/** The files of the repository that a build of the image gets, by the rules of .dockerignore: the last that matches counts. */
async function filesOfImage(): Promise<string[]> {
  const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    maxBuffer: 10_000_000,
  });
  const rules = (await readFile(join(ROOT, ".dockerignore"), "utf8")).split("\n").filter((line) => /^[^#]/.test(line));
  const matches = (path: string, pattern: string): boolean =>
    matchesGlob(path, pattern) || (path.includes("/") && matches(dirname(path), pattern));
  const isIgnored = (file: string) => {
    // A star means hidden files too.
    const path = file.replace(/(^|\/)\./g, "$1_");
    const last = rules.findLast((rule) => matches(path, rule.replace(/^!/, "")));
    return last !== undefined && !last.startsWith("!");
  };
  return stdout.split("\n").filter((path) => path !== "" && !isIgnored(path));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-image-"));
  for (const path of await filesOfImage())
    await cp(join(ROOT, path), join(folder, path), { recursive: true, force: true });
  const packages = join(folder, "node_modules");
  await mkdir(join(packages, "@toolgate"), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules")))
    if (name !== "@toolgate" && !name.startsWith("."))
      await symlink(join(ROOT, "node_modules", name), join(packages, name));
  // The links to the own packages are relative, so they lead into the copy.
  for (const name of await readdir(join(ROOT, "node_modules/@toolgate")))
    await symlink(await readlink(join(ROOT, "node_modules/@toolgate", name)), join(packages, "@toolgate", name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The first log line of a program without settings: what is missing. */
async function startedWithout(name: string, env: Record<string, string> = {}): Promise<string> {
  const args = [join(folder, "deploy/installation/src/start-main.ts"), name];
  const { stdout, stderr } = await run(process.execPath, args, { env, cwd: folder }).catch((error) => error);
  return `${stdout}${stderr}`;
}

test.each(programNames())("the image has all files of %s, which says what settings it needs", async (name) => {
  expect(await startedWithout(name)).toMatch(/(?:DATABASE_URL|NATS_URL|SANDBOX_TOKEN_HASH|OPS_PORT)[^"]* (?:is|must)/);
});

test("a name that nobody has is refused with the names that there are", async () => {
  expect(await startedWithout("worker")).toContain("chat-worker");
});

test("the image has no tests, tools or files of development", async () => {
  const files = await filesOfImage();
  expect(files.filter((path) => /\.test\.ts$|(^|\/)test\/|^docs\/|^\.|testbed/.test(path))).toEqual([]);
  expect(files.filter((path) => path.startsWith("bench/"))).toEqual(["bench/package.json"]);
});
