import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { runParts } from "./src/installation/run-parts.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import { REPORTS, readOptions } from "./src/options.ts";
import { describeMachine, renderReport } from "./src/report/render-report.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const { stop } = listenForStop(process, () => performance.now());
const log = (line: string) => void process.stderr.write(`${line}\n`);
try {
  const args = process.argv.slice(2);
  const options = readOptions(args);
  const machine = describeMachine();
  const startedAt = new Date();
  const profileDir = options.profile ? file("../.data/bench-profile") : undefined;
  if (profileDir) await mkdir(profileDir, { recursive: true });
  await using folder = await openWorkFolder(file("../.data/bench"));
  const figures = await runParts(options, { dataDir: folder.path, profileDir, signal: stop, log });
  const tookSeconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  const run = { date: startedAt.toISOString(), command: ["node bench/run.ts", ...args].join(" "), tookSeconds };
  const { seconds, rounds } = options;
  const results = { run, machine, options: { seconds, rounds }, figures };
  const report = renderReport(results);
  // A run of only some parts of a report prints its results and writes nothing.
  const written = REPORTS.find(({ parts }) => parts.symmetricDifference(options.parts).size === 0);
  if (written) {
    await writeFile(file(`${written.name.toLowerCase()}.json`), `${JSON.stringify(results, null, 2)}\n`);
    await writeFile(file(`${written.name}.md`), report);
  }
  process.stdout.write(report);
} catch (error) {
  log(stop.aborted ? "stopped" : String((error as Error).stack));
  process.exitCode = 1;
}
