// Where the single topology's process spends its time on tool calls: node bench/profile.ts. The profile itself is left
// in .data/bench-profile for a viewer.
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { toolgateVariant } from "./src/calls/variants.ts";
import { startInstallation } from "./src/installation/start-installation.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import type { LoadOrder, LoadResult } from "./src/load/messages.ts";
import { startBenchProcess } from "./src/machine/child-process.ts";
import { type Cost, summarise } from "./src/profile/summarise.ts";

const CONCURRENCY = 64;
const MEASURE_MS = 10_000;
const SHOWN = 45;

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const profileDir = file("../.data/bench-profile");
const { stop: signal } = listenForStop(process, () => performance.now());
const log = (line: string) => void process.stderr.write(`${line}\n`);

async function load(): Promise<LoadResult> {
  await using folder = await openWorkFolder(file("../.data/bench"));
  const settings = { dataDir: join(folder.path, "single"), receiver: undefined, profileDir, log, signal };
  await using installation = await startInstallation("single", settings);
  const { target } = await toolgateVariant(installation);
  const entry = new URL("./src/load/generator.ts", import.meta.url);
  await using generator = await startBenchProcess<object, LoadOrder, LoadResult>(entry, { signal });
  return await generator.ask({
    target,
    mode: { kind: "closed", concurrency: CONCURRENCY },
    warmUpMs: 0,
    measureMs: MEASURE_MS,
  });
}

function print(title: string, costs: Cost[]): void {
  log(`\n${title}`);
  for (const { what, share, perCallUs } of costs.slice(0, SHOWN)) {
    log(`${(share * 100).toFixed(1).padStart(5)} % ${perCallUs.toFixed(1).padStart(6)} µs  ${what}`);
  }
}

await rm(profileDir, { recursive: true, force: true });
await mkdir(profileDir, { recursive: true });
const { answered, perSecond } = await load();
const [name = ""] = await readdir(profileDir);
const summary = summarise(JSON.parse(await readFile(join(profileDir, name), "utf8")), answered);
log(`${answered} calls, ${perSecond.toFixed(0)}/s, ${(summary.busyUs / answered).toFixed(0)} µs each in this process`);
print("by module", summary.modules);
print("by function", summary.functions);
