import { mkdir } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { listenForStop } from "@toolgate/local/stopping";
import { measureAlone, measureDisturbed, PER_SECOND, prepareDisturbances } from "./src/hooks/beside.ts";
import { addQuickHooks } from "./src/hooks/measure-hooks.ts";
import { type HooksSettings, type MeasuredWindow, together } from "./src/hooks/paced.ts";
import { startGenerator } from "./src/installation/run-parts.ts";
import { startInstallation } from "./src/installation/start-installation.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import type { Usage } from "./src/machine/meter.ts";
import { startPauseWatch } from "./src/machine/pauses.ts";
import { percent } from "./src/report/table.ts";
import { median } from "./src/statistics.ts";

const USAGE = `node bench/hook-windows.ts [--profile] [--with FOLDER]... [--times N] [--beside PATTERN]
Hook calls at a low pace, alone and beside disturbances by others; with other checkouts, also theirs, in turns.`;
const DEFAULT_TIMES = "6";
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const { values } = parseArgs({
  options: {
    profile: { type: "boolean" },
    with: { type: "string", multiple: true, default: [] },
    times: { type: "string", default: DEFAULT_TIMES },
    beside: { type: "string", default: "" },
  },
});
const times = Number(values.times);
if (!(times > 0)) throw new Error(USAGE);
const { stop: signal } = listenForStop(process, () => performance.now());
const profileDir = values.profile ? file("../.data/bench-profile") : undefined;
if (profileDir) await mkdir(profileDir, { recursive: true });
await using resources = new AsyncDisposableStack();
const folder = resources.use(await openWorkFolder(file("../.data/bench")));
const generators = [await startGenerator(resources, signal), await startGenerator(resources, signal)] as const;
setPriority(generators[1].pid, constants.priority.PRIORITY_LOW);
const pauses = resources.use(await startPauseWatch(signal));

async function startVersion(name: string, checkout: string | undefined) {
  const dataDir = `${folder.path}/${name}`;
  await mkdir(dataDir, { recursive: true });
  const start = { dataDir, receiver: undefined, profileDir, checkout, log: () => {}, signal };
  const installation = resources.use(await startInstallation("single", start));
  const settings: HooksSettings = {
    installation,
    peer: { port: 0, groups: {} },
    generators,
    pauses,
    rounds: 1,
    seconds: 1,
    signal,
    log: console.log,
  };
  const hooks = await addQuickHooks(installation);
  const all = await prepareDisturbances(settings);
  const disturbances = all.filter(({ what }) => new RegExp(values.beside).test(what));
  return { name, settings, hooks, disturbances };
}

const versions = [await startVersion("this", undefined)];
for (const checkout of values.with) versions.push(await startVersion(basename(resolve(checkout)), resolve(checkout)));
const windows = new Map<string, MeasuredWindow[]>();
const keep = (title: string, window: MeasuredWindow) => windows.set(title, [...(windows.get(title) ?? []), window]);
for (let round = 0; round < times; round += 1) {
  for (const { name, settings, hooks } of versions) keep(`${name}, alone`, await measureAlone(settings, hooks));
  const count = versions[0]?.disturbances.length ?? 0;
  for (let index = 0; index < count; index += 1) {
    for (const { name, settings, hooks, disturbances } of versions) {
      const disturbance = disturbances[index];
      if (!disturbance) continue;
      keep(`${name}, while ${disturbance.what}`, await measureDisturbed(settings, hooks, disturbance));
    }
  }
}
const ms = ({ p50Ms, p99Ms, p99OfWindowsMs }: ReturnType<typeof together>["accept"]) =>
  `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} (${p99OfWindowsMs.map((p99) => p99.toFixed(1)).join(", ")})`;
/** The share of a processor that each process used. */
const shares = (usages: readonly Usage[]) =>
  Object.keys(usages[0]?.cpuMs ?? {})
    .map((name) => `${name} ${percent(median(usages.map(({ cpuMs, tookMs }) => (cpuMs[name] ?? 0) / tookMs)))}`)
    .join(", ");
for (const [title, own] of windows) {
  const { accept, start, usages } = together(PER_SECOND, own);
  console.log(`${title}: response ${ms(accept)}; start ${ms(start)}; of a processor ${shares(usages)}`);
}
