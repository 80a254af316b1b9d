import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "@toolgate/local-servers/process-table";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { startServiceProcess } from "../src/service-process.ts";

const SERVICE = `
import { appendFileSync } from "node:fs";
process.on("SIGTERM", () => { appendFileSync(process.env.FILE, "drained\\n"); process.exit(0); });
setInterval(() => {}, 1000);
console.log("environment " + Object.keys(process.env).filter((name) => !/^NODE_(CHANNEL|COMPILE_CACHE)/.test(name)));
appendFileSync(process.env.FILE, process.pid + "\\n");
`;

async function serviceFiles() {
  const folder = await temporaryFolder();
  const [entry, file] = [join(folder, "service.mjs"), join(folder, "journal")];
  await writeFile(entry, SERVICE);
  await writeFile(file, "");
  const journal = async () => (await readFile(file, "utf8")).split("\n").slice(0, -1);
  return { folder, entry, file, journal };
}

test("a service is started again when it is killed, and drains when it is stopped", async () => {
  const { entry, file, journal } = await serviceFiles();
  const lines: string[] = [];
  let starts = 0;
  const service = await startServiceProcess({
    name: "gateway",
    entry,
    env: { FILE: file },
    ready: async () => (await journal()).length > starts,
    log: (line) => lines.push(line),
  });
  const first = service.pid;
  expect(await journal()).toEqual([String(first)]);
  expect(lines).toContain("gateway: environment FILE");
  starts = 1;
  process.kill(first, "SIGKILL");
  await eventually(() => lines.includes("gateway runs again"));
  expect(lines).toContain("gateway ended unexpectedly (ended by SIGKILL), starting it again in 0.2 s");
  const second = service.pid;
  expect(second).not.toBe(first);
  await service.stop();
  expect([isAlive(second), service.pid]).toEqual([false, 0]);
  expect(await journal()).toEqual([String(first), String(second), "drained"]);
});

test("a service that ends before it is ready is an error", async () => {
  const folder = await temporaryFolder();
  const entry = join(folder, "broken.mjs");
  await writeFile(entry, 'console.log("no port is left"); process.exitCode = 4;');
  const start = startServiceProcess({ name: "chat", entry, env: {}, ready: async () => false, log: () => {} });
  await expect(start).rejects.toThrow("chat did not start (exit code 4): no port is left");
});

test("a service drains when the process that supervises it is killed", async () => {
  const { folder, entry, file, journal } = await serviceFiles();
  const supervisor = join(folder, "supervisor.mjs");
  const module = new URL("../src/service-process.ts", import.meta.url).href;
  await writeFile(
    supervisor,
    `import { readFileSync } from "node:fs";
import { startServiceProcess } from ${JSON.stringify(module)};
const file = ${JSON.stringify(file)};
const ready = async () => readFileSync(file, "utf8") !== "";
await startServiceProcess({ name: "s", entry: ${JSON.stringify(entry)}, env: { FILE: file }, ready, log: () => {} });
console.log("ready");
setInterval(() => {}, 1000);
`,
  );
  const child = spawn(process.execPath, [supervisor], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const pid = Number((await journal())[0]);
  expect(isAlive(pid)).toBe(true);
  child.kill("SIGKILL");
  await eventually(() => !isAlive(pid));
  expect(await journal()).toEqual([String(pid), "drained"]);
});
