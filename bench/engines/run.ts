// Compares engines that could run tools, and writes ../ENGINES.md. `npm ci` in this folder adds QuickJS.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Figures } from "./measure.ts";
import { type BombTimes, renderEngines } from "./report.ts";
import { LIMIT_MS, SUBJECTS, type SubjectName } from "./subject.ts";
import { BOMBS } from "./workloads.ts";

/** A bomb that still runs after this long is said to last longer. */
const BOMB_CAP_MS = 10_000;
const MEASURE_CAP_MS = 120_000;

const program = fileURLToPath(new URL("measure.ts", import.meta.url));
const runFile = promisify(execFile);
const startedAt = new Date();
const figures: Figures[] = [];
const bombs: BombTimes[] = [];
const missing: SubjectName[] = [];
for (const subject of SUBJECTS) {
  const text = await measured([subject], MEASURE_CAP_MS);
  if (text === undefined || text === "") {
    missing.push(subject);
    console.error(`${subject}: skipped, because its package is not installed (npm ci in bench/engines)`);
    continue;
  }
  const found = JSON.parse(text) as Figures;
  figures.push(found);
  const lasts: BombTimes["lasts"] = {};
  for (const bomb of Object.keys(BOMBS)) {
    const ms = await measured([subject, bomb], BOMB_CAP_MS);
    lasts[bomb] = ms === undefined ? undefined : Number(ms);
  }
  bombs.push({ name: found.name, lasts });
  console.error(found.name, found.callMs, lasts);
}
const report = renderEngines({ startedAt, figures, bombs, missing, limitMs: LIMIT_MS, capMs: BOMB_CAP_MS });
await writeFile(fileURLToPath(new URL("../ENGINES.md", import.meta.url)), report);
console.log(report);

/** What it prints; undefined when it takes longer. */
async function measured(args: string[], timeout: number): Promise<string | undefined> {
  try {
    const options = { timeout, killSignal: "SIGKILL" } as const;
    const { stdout } = await runFile(process.execPath, ["--no-node-snapshot", program, ...args], options);
    return stdout.trim();
  } catch (error) {
    if ((error as { killed?: boolean }).killed) return undefined;
    throw error;
  }
}
