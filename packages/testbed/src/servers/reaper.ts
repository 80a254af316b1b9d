import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { removeDataFolder } from "@toolgate/local-servers/data-folder";

const runFolder = process.argv[2];
if (!runFolder) throw new Error("usage: reaper.ts <folder of a test run>");
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => {});

// The input ends when the test run closes it or dies.
for await (const _ of process.stdin);
const folders = await readdir(runFolder, { withFileTypes: true }).catch(() => []);
const servers = folders.filter((entry) => entry.isDirectory()).map(({ name }) => join(runFolder, name));
await Promise.all(servers.map((folder) => removeDataFolder(folder).catch(() => {})));
await rm(runFolder, { recursive: true, force: true });
