import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { runParts } from "./src/installation/run-parts.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import { REPORTS, readOptions } from "./src/options.ts";
import { describeMachine, type Results, renderReport } from "./src/report/render-report.ts";

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
  const { seconds, rounds, parts } = options;
  const written = REPORTS.find((report) =>
    options.update ? parts.isSubsetOf(report.parts) : parts.symmetricDifference(report.parts).size === 0,
  );
  const json = written && file(`${written.name.toLowerCase()}.json`);
  let results: Results = { run, machine, options: { seconds, rounds }, figures };
  if (json && options.update) {
    const earlier: Results = JSON.parse(await readFile(json, "utf8"));
    const updates = [...(earlier.updates ?? []), { ...run, parts: [...parts], cpu: machine.cpu }];
    // Measured again with --attack, attacks replace their own figures only.
    const measured = figures.neighbours ?? [];
    const others = (earlier.figures.neighbours ?? []).filter(({ what }) => measured.every((one) => one.what !== what));
    const ofAttack = options.attack === "" ? {} : { neighbours: [...others, ...measured] };
    results = { ...earlier, updates, figures: { ...earlier.figures, ...figures, ...ofAttack } };
  }
  const report = renderReport(results);
  // A run of only some parts of a report prints its results and writes nothing, unless it is an update.
  if (json) {
    await writeFile(json, `${JSON.stringify(results, null, 2)}\n`);
    await writeFile(file(`${written.name}.md`), report);
  }
  process.stdout.write(report);
} catch (error) {
  log(stop.aborted ? "stopped" : String((error as Error).stack));
  process.exitCode = 1;
}
