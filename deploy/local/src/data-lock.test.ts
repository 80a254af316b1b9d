import { spawn } from "node:child_process";
import { once } from "node:events";
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

test("another process keeps its lock until it is killed", async () => {
  const folder = await temporaryFolder();
  const module = new URL("./data-lock.ts", import.meta.url).href;
  const code = `const { lockDataFolder } = await import("${module}");
    const lock = await lockDataFolder(${JSON.stringify(folder)}, 8080);
    console.log("locked");
    setInterval(() => lock, 1000);`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(other, "exit");
  try {
    await once(other.stdout, "data");
    await expect(lockDataFolder(folder, 8081)).rejects.toThrow(`(process ${other.pid}, port 8080)`);
  } finally {
    other.kill("SIGKILL");
  }
  await exited;
  await using _lock = await lockDataFolder(folder, 8081);
});
