import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { lockDataFolder } from "@toolgate/local/data-lock";
import { listenForStop } from "@toolgate/local/stopping";
import { removeDataFolder } from "@toolgate/local-servers/data-folder";
import { startBench } from "./src/bench.ts";
import { measureCalls } from "./src/calls.ts";
import { measureChat } from "./src/chat/measure-chat.ts";
import { measureDeliveries } from "./src/deliveries/measure-deliveries.ts";
import { measureHooks } from "./src/hooks.ts";
import { measureIdle } from "./src/idle.ts";
import { measureNeighbours } from "./src/neighbours.ts";
import { measurePacedCalls } from "./src/paced-calls.ts";
import { describeMachine, renderPage, type Section, versionsOf } from "./src/page.ts";

const PARTS = {
  Calls: measureCalls,
  "Paced calls": measurePacedCalls,
  Deliveries: measureDeliveries,
  Hooks: measureHooks,
  Chat: measureChat,
  Neighbours: measureNeighbours,
} as const;
const DEFAULT_SECONDS = "6";
const USAGE = `node bench/run.ts [--seconds N] [--only ${Object.keys(PARTS).join("|")}]`;

const { stop } = listenForStop(process, () => performance.now());
const log = (line: string) => void process.stderr.write(`${line}\n`);
try {
  const { values } = parseArgs({
    options: { seconds: { type: "string", default: DEFAULT_SECONDS }, only: { type: "string", multiple: true } },
  });
  const windowMs = Number(values.seconds) * 1000;
  const { only = Object.keys(PARTS) } = values;
  if (!(windowMs > 0) || only.some((name) => !(name in PARTS))) throw new Error(USAGE);
  const page = await run(windowMs, only);
  // A run of some parts, or with other windows, only prints its results.
  const isWhole = values.only === undefined && values.seconds === DEFAULT_SECONDS;
  if (isWhole) await writeFile(fileURLToPath(new URL("RESULTS.md", import.meta.url)), page);
  process.stdout.write(page);
} catch (error) {
  log(stop.aborted ? "stopped" : String((error as Error).stack));
  process.exitCode = 1;
}

async function run(windowMs: number, only: readonly string[]): Promise<string> {
  const machine = describeMachine();
  const startedAt = new Date();
  const dataDir = fileURLToPath(new URL("../.data/bench", import.meta.url));
  await using resources = new AsyncDisposableStack();
  resources.use(await lockDataFolder(dataDir, 0));
  // On a real disk and not in memory; a killed run has left its own.
  await removeInstallations(dataDir);
  resources.defer(() => removeInstallations(dataDir));
  const sections: Section[] = [];
  let idle = "";
  const control = { dataDir, windowMs, log, signal: stop };
  const bench = await startBench(resources, control, async (single) => {
    idle = await measureIdle(single, windowMs);
  });
  for (const [title, measure] of Object.entries(PARTS)) {
    if (only.includes(title)) sections.push({ title, text: await measure(bench) });
    stop.throwIfAborted();
  }
  sections.push({ title: "Idle", text: idle });
  const tookSeconds = (Date.now() - startedAt.getTime()) / 1000;
  return renderPage({ startedAt, tookSeconds, machine, versions: await versionsOf(bench.single) }, sections);
}

async function removeInstallations(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const folder = join(dataDir, name);
    if (existsSync(join(folder, "ports.json"))) await removeDataFolder(folder);
  }
}
