import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { measureWindow, type Window } from "./src/calls/measure-calls.ts";
import { startFastify, toolgateVariant, type Variant } from "./src/calls/variants.ts";
import { startGenerator } from "./src/installation/run-parts.ts";
import { startInstallation } from "./src/installation/start-installation.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import type { LoadMode } from "./src/load/score.ts";

const USAGE = `node bench/windows.ts single|split [--profile] [closed:CONNECTIONS:SECONDS | open:PER_SECOND:SECONDS]...
Tool calls of Toolgate and of the fastify peer in windows of your choice, to compare two versions.`;
const WARM_UP = { mode: { kind: "closed", concurrency: 64 }, warmUpMs: 0, measureMs: 3_000 } as const;
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

type Order = Parameters<typeof measureWindow>[1];

function orderOf(text: string): Order {
  const [, kind, number, seconds] = /^(closed|open):(\d+):(\d+)$/.exec(text) ?? [];
  if (!kind) throw new Error(USAGE);
  const mode: LoadMode =
    kind === "closed" ? { kind, concurrency: Number(number) } : { kind: "open", perSecond: Number(number) };
  return { mode, warmUpMs: 500, measureMs: Number(seconds) * 1_000 };
}

function describe({ load, usage, logMessages }: Window): string {
  const perCall = Object.entries(usage.cpuMs).map(([name, ms]) => [name, (ms * 1_000) / load.responses] as const);
  const shown = perCall.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(", ");
  const { p50Ms, p99Ms } = load.latency;
  const rate = `${load.perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)}, p99 ${p99Ms.toFixed(1)} ms`;
  return `${rate}, ${(logMessages / load.responses).toFixed(2)} log messages per call, µs of CPU per call: ${shown}`;
}

const { stop: signal } = listenForStop(process, () => performance.now());
const [kind, ...rest] = process.argv.slice(2);
if (kind !== "single" && kind !== "split") throw new Error(USAGE);
const orders = rest.filter((one) => one !== "--profile").map((text) => ({ text, order: orderOf(text) }));
const profileDir = rest.includes("--profile") ? file("../.data/bench-profile") : undefined;
if (profileDir) await mkdir(profileDir, { recursive: true });
await using resources = new AsyncDisposableStack();
const folder = resources.use(await openWorkFolder(file("../.data/bench")));
const dataDir = `${folder.path}/${kind}`;
const settings = { dataDir, receiver: undefined, profileDir, log: () => {}, signal };
const installation = resources.use(await startInstallation(kind, settings));
const variants: Variant[] = [await toolgateVariant(installation), await startFastify(resources, installation, signal)];
const generator = await startGenerator(resources, signal);
for (const variant of variants) await measureWindow(variant, WARM_UP, { generator, signal });
for (const { text, order } of orders)
  for (const variant of variants)
    console.log(`${variant.name} ${text}: ${describe(await measureWindow(variant, order, { generator, signal }))}`);
