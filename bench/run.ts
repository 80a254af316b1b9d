import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { listenForStop } from "@toolgate/local/stopping";
import { measureCalls } from "./src/calls.ts";
import { measureChat } from "./src/chat/chat.ts";
import { measureDeliveries } from "./src/deliveries/deliveries.ts";
import { measureHooks } from "./src/hooks.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import { measureNeighbours } from "./src/neighbours.ts";
import { type Part, renderReport } from "./src/report.ts";

const PARTS = {
  calls: measureCalls,
  deliveries: measureDeliveries,
  hooks: measureHooks,
  chat: measureChat,
  neighbours: measureNeighbours,
};

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const { stop: signal } = listenForStop(process, () => performance.now());
const log = (line: string) => void process.stderr.write(`${line}\n`);
const { values } = parseArgs({
  options: { only: { type: "string", multiple: true }, seconds: { type: "string", default: "6" } },
});
const chosen = Object.entries(PARTS).filter(([name]) => values.only?.includes(name) ?? true);
if (chosen.length === 0) throw new Error(`--only takes ${Object.keys(PARTS).join(", ")}`);
try {
  await using folder = await openWorkFolder(file("../.data/bench"));
  const startedAt = new Date();
  const parts: Part[] = [];
  for (const [name, measure] of chosen) {
    log(`## ${name}`);
    parts.push(await measure({ dataDir: folder.path, seconds: Number(values.seconds), signal, log }));
  }
  const report = renderReport(parts, startedAt);
  // A run of some parts prints its figures and writes nothing.
  if (values.only === undefined) await writeFile(file("RESULTS.md"), report);
  process.stdout.write(report);
} catch (error) {
  log(signal.aborted ? "stopped" : String((error as Error).stack));
  process.exitCode = 1;
}
