import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { describe, expect, test } from "vitest";
import { findBinary, findPrograms, missingSentence, PROGRAMS, type ProgramSearch, programFolders } from "./programs.ts";

const { postgres: POSTGRES, nats: NATS, redis: REDIS } = PROGRAMS;

async function folderWith(programs: Record<string, string>, mode = 0o755): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, version] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\necho '${version}'\n`);
    await chmod(join(folder, name), mode);
  }
  return folder;
}

function searchIn(folders: string[], changes: Partial<ProgramSearch> = {}): ProgramSearch {
  return { folders: async () => folders, install: async () => false, log: () => {}, ...changes };
}

describe("finding a server program", () => {
  test.each([
    [POSTGRES, "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", { major: 15, minor: 18 }],
    [POSTGRES, "postgres (PostgreSQL) 19devel", { major: 19, minor: 0 }],
    [NATS, "nats-server: v2.9.10", { major: 2, minor: 9 }],
    [REDIS, "Redis server v=7.0.15 sha=00000000:0", { major: 7, minor: 0 }],
  ])("reads the version of $executable", async (program, output, version) => {
    const folder = await folderWith({ [program.executable]: output });
    expect(await findBinary(program, [folder])).toEqual({ path: join(folder, program.executable), version });
  });

  test.each([
    [POSTGRES, "postgres (PostgreSQL) 14.9"],
    [NATS, "nats-server: v2.8.4"],
    [REDIS, "Redis server v=6.0.16"],
    [REDIS, "no version at all"],
  ])("passes over a $executable that is too old", async (program, output) => {
    const old = await folderWith({ [program.executable]: output });
    expect(await findBinary(program, [old, "/no/such/folder"])).toBeUndefined();
  });

  test("passes over a file that is not executable and takes the next folder", async () => {
    const broken = await folderWith({ "nats-server": "nats-server: v2.11.0" }, 0o644);
    const good = await folderWith({ "nats-server": "nats-server: v2.10.0" });
    expect((await findBinary(NATS, [broken, good]))?.path).toBe(join(good, "nats-server"));
  });

  test("keeps the name of a link, which tells some programs what to be", async () => {
    const folder = await folderWith({ "redis-check-rdb": "Redis server v=7.0.15" });
    await symlink(join(folder, "redis-check-rdb"), join(folder, "redis-server"));
    expect((await findBinary(REDIS, [folder]))?.path).toBe(join(folder, "redis-server"));
  });

  test("PATH comes first among the folders", async () => {
    expect((await programFolders("/first:/second:")).slice(0, 2)).toEqual(["/first", "/second"]);
  });
});

describe("missing programs", () => {
  test("are installed together, and only those", async () => {
    const folder = await folderWith({ "redis-server": "Redis server v=7.0.15" });
    const later = join(folder, "later");
    const asked: string[][] = [];
    const install = async (packages: string[]) => {
      asked.push(packages);
      await mkdir(later);
      for (const name of ["postgres", "nats-server"]) {
        await writeFile(join(later, name), "#!/bin/sh\necho 15.1\n", { mode: 0o755 });
      }
      return true;
    };
    const found = await findPrograms(["postgres", "nats", "redis"], searchIn([folder, later], { install }));
    expect(asked).toEqual([["postgresql", "nats-server"]]);
    expect(found.postgres?.path).toBe(join(later, "postgres"));
    expect(Object.keys(found).sort()).toEqual(["nats", "postgres", "redis"]);
  });

  test("are left out when they cannot be installed, or are still too old after it", async () => {
    const folder = await folderWith({ postgres: "postgres (PostgreSQL) 13.4" });
    expect(await findPrograms(["postgres"], searchIn([folder]))).toEqual({});
    expect(await findPrograms(["postgres"], searchIn([folder], { install: async () => true }))).toEqual({});
  });

  test("data are opened by the version of PostgreSQL that made them", async () => {
    const newer = await folderWith({ postgres: "postgres (PostgreSQL) 17.2" });
    const same = await folderWith({ postgres: "postgres (PostgreSQL) 15.3" });
    const found = await findPrograms(["postgres"], searchIn([newer, same], { clusterMajor: 15 }));
    expect(found.postgres?.path).toBe(join(same, "postgres"));
    expect(await findPrograms(["postgres"], searchIn([newer], { clusterMajor: 15 }))).toEqual({});
  });

  test("are named in one sentence with every way out", () => {
    expect(missingSentence(["postgres", "nats"])).toBe(
      'PostgreSQL 15 or newer, nats-server 2.9 or newer not found: install with "apt-get install postgresql nats-server" or "brew install postgresql@17 nats-server", or set DATABASE_URL, NATS_URL',
    );
    expect(missingSentence(["postgres"], 16)).toContain("not found (the data were made by version 16): install");
  });
});
