import { cp, mkdir, mkdtemp, readdir, readlink, realpath, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { describe, expect, test } from "vitest";
import { canUse, postgresAccount } from "../src/account.ts";
import { removeDataFolder } from "../src/data-folder.ts";
import { isAlive } from "../src/process-table.ts";
import { startServers } from "../src/start-servers.ts";
import { read, write } from "./kept-value.ts";

const ROOT_ONLY = process.getuid?.() === 0;

describe.runIf(ROOT_ONLY)("a data folder that the user postgres cannot reach", () => {
  const unreachable = async () => {
    const closed = await mkdtemp(join(await temporaryFolder(), "closed-"));
    const fallbackRoot = await temporaryFolder();
    const dataDir = join(closed, "data");
    const settings = { names: ["postgres"] as const, dataDir, log: () => {}, fallbackRoot };
    const [link, dispose] = [join(dataDir, "postgres"), () => rm(closed, { recursive: true, force: true })];
    return { dataDir, fallbackRoot, link, settings, [Symbol.asyncDispose]: dispose };
  };

  test("keeps the cluster elsewhere, finds it again, and removes it with the rest", async () => {
    await using folder = await unreachable();
    const account = await postgresAccount();
    await mkdir(folder.dataDir);
    expect(account && (await canUse(account, folder.dataDir))).toBe(false);
    const first = await startServers(folder.settings);
    await write(first.running.postgres, "kept");
    await first.stop();
    const target = await readlink(folder.link);
    expect(target.startsWith(join(await realpath(folder.fallbackRoot), "toolgate-"))).toBe(true);
    expect((await stat(target)).mode & 0o777).toBe(0o700);
    const second = await startServers(folder.settings);
    expect(await read(second.running.postgres)).toBe("kept");
    await second.stop();
    await removeDataFolder(folder.dataDir);
    expect(await readdir(folder.fallbackRoot)).toEqual([]);
  });

  test("when it is copied, neither starting nor removing the copy affects its database", async () => {
    await using folder = await unreachable();
    await using servers = await startServers(folder.settings);
    const server = servers.running.postgres;
    await write(server, "mine");
    const copy = `${folder.dataDir}-copy`;
    await cp(folder.dataDir, copy, { recursive: true, verbatimSymlinks: true });
    const link = join(copy, "postgres");
    const refusal = `${link} leads to ${await readlink(link)}, the database of another data folder: move this one back, or remove the link`;
    await expect(startServers({ ...folder.settings, dataDir: copy })).rejects.toThrow(refusal);
    await expect(removeDataFolder(copy)).rejects.toThrow(refusal);
    expect(await read(server)).toBe("mine");
    await rm(link);
    await using second = await startServers({ ...folder.settings, dataDir: copy });
    await expect(read(second.running.postgres)).rejects.toThrow('relation "kept" does not exist');
    await second.stop();
    await removeDataFolder(copy);
    expect(await read(server)).toBe("mine");
  });

  test("is left alone when it is the target of a link of its owner", async () => {
    await using folder = await unreachable();
    const target = `${folder.dataDir}-elsewhere`;
    await mkdir(target);
    await mkdir(folder.dataDir);
    await symlink(target, folder.link);
    await expect(startServers(folder.settings)).rejects.toThrow(`who runs PostgreSQL, cannot reach ${target}`);
    expect(await readdir(target)).toEqual([]);
  });

  test("does not silently start with an empty database when its database is not there", async () => {
    await using folder = await unreachable();
    const first = await startServers(folder.settings);
    await first.stop();
    const target = await readlink(folder.link);
    await rm(target, { recursive: true });
    const refusal = `${folder.link} leads to ${target}, which is gone: put it back, or remove the link`;
    await expect(startServers(folder.settings)).rejects.toThrow(refusal);
    await expect(removeDataFolder(folder.dataDir)).rejects.toThrow(refusal);
    await rm(folder.link);
    await using _servers = await startServers(folder.settings);
  });

  test("starts empty when the data folder was deleted, with the old cluster stopped and put aside", async () => {
    await using folder = await unreachable();
    const lost = await startServers(folder.settings);
    await write(lost.running.postgres, "old");
    const pid = lost.running.postgres.pid;
    await rm(folder.dataDir, { recursive: true });
    await using servers = await startServers(folder.settings);
    expect(isAlive(pid)).toBe(false);
    await expect(read(servers.running.postgres)).rejects.toThrow('relation "kept" does not exist');
    const target = await readlink(folder.link);
    expect((await readdir(folder.fallbackRoot)).map((name) => join(folder.fallbackRoot, name)).sort()).toEqual([
      target,
      `${target}.old`,
    ]);
  });
});
