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
const ROUNDS = 3;

const program = fileURLToPath(new URL("measure.ts", import.meta.url));
const runFile = promisify(execFile);
const startedAt = new Date();
const figures: Figures[] = [];
const bombs: BombTimes[] = [];
const missing: SubjectName[] = [];
const rounds = new Map<SubjectName, Figures[]>();
for (let round = 0; round < ROUNDS; round += 1) {
  for (const subject of SUBJECTS) {
    const text = await measured([subject], MEASURE_CAP_MS);
    if (text) rounds.set(subject, [...(rounds.get(subject) ?? []), JSON.parse(text)]);
  }
}
for (const subject of SUBJECTS) {
  const found = lowest(rounds.get(subject) ?? []);
  if (found === undefined) {
    missing.push(subject);
    console.error(`${subject}: skipped, because its package is not installed (npm ci in bench/engines)`);
    continue;
  }
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

/** The lowest of each figure: other programs on the machine can only add to it. */
function lowest(all: readonly Figures[]): Figures | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const least = (of: (one: Figures) => number | undefined) => Math.min(...all.map((one) => of(one) ?? Number.NaN));
  const names = Object.keys(first.callMs);
  return {
    name: first.name,
    startMs: least(({ startMs }) => startMs),
    memoryMib: least(({ memoryMib }) => memoryMib),
    callMs: Object.fromEntries(names.map((name) => [name, least(({ callMs }) => callMs[name])])),
  };
}

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
