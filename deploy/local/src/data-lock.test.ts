import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { lockDataFolder } from "./data-lock.ts";

test("a second run on the same data is refused, until the first has ended", async () => {
  const folder = await temporaryFolder();
  const first = await lockDataFolder(folder, 8080);
  await expect(lockDataFolder(folder, 8081)).rejects.toThrow(
    `Toolgate already runs on ${folder} (process ${process.pid}, port 8080)`,
  );
  await first[Symbol.asyncDispose]();
  await (await lockDataFolder(folder, 8081))[Symbol.asyncDispose]();
});

test("of many runs that start at the same time, exactly one gets the folder", async () => {
  const folder = await temporaryFolder();
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataFolder(folder, 8080)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test.each([
  ["a process that is gone", { pid: 2 ** 22 + 1, started: "x", port: 1 }],
  ["a pid that was given to another process", { pid: process.pid, started: "another start", port: 1 }],
])("takes over the lock of %s", async (_, holder) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "lock"), JSON.stringify(holder));
  await using _lock = await lockDataFolder(folder, 8080);
  expect(JSON.parse(await readFile(join(folder, "lock"), "utf8")).pid).toBe(process.pid);
});

test("takes over a lock that was interrupted while it was written", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "lock"), "");
  await using _lock = await lockDataFolder(folder, 8080);
  expect(await readFile(join(folder, "lock"), "utf8")).toContain(`"port":8080`);
});
