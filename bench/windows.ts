import { mkdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { measureWindow, type Window } from "./src/calls/measure-calls.ts";
import { startFastify, toolgateVariant, type Variant } from "./src/calls/variants.ts";
import { startGenerator } from "./src/installation/run-parts.ts";
import { startInstallation, type TopologyKind } from "./src/installation/start-installation.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import type { LoadMode } from "./src/load/score.ts";
import { median } from "./src/statistics.ts";
import { readWindowArguments } from "./src/window-arguments.ts";

const USAGE = `node bench/windows.ts single|split [--profile] [--with FOLDER]... [--times N] [closed:CONNECTIONS:SECONDS | open:PER_SECOND:SECONDS]...
Tool calls of Toolgate and of the fastify peer in windows of your choice; with other checkouts (single only), also their
calls, in turns. Each figure is the median of N windows.`;
const WARM_UP = { mode: { kind: "closed", concurrency: 64 }, warmUpMs: 0, measureMs: 3_000 } as const;
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

type Order = Parameters<typeof measureWindow>[1];

type Version = { name: string; variant: Variant };

function orderOf(text: string): Order {
  const [, kind, number, seconds] = /^(closed|open):(\d+):(\d+)$/.exec(text) ?? [];
  if (!kind) throw new Error(USAGE);
  const mode: LoadMode =
    kind === "closed" ? { kind, concurrency: Number(number) } : { kind: "open", perSecond: Number(number) };
  return { mode, warmUpMs: 500, measureMs: Number(seconds) * 1_000 };
}

function describe(windows: readonly Window[]): string {
  const of = (figure: (window: Window) => number) => median(windows.map(figure));
  const names = Object.keys(windows[0]?.usage.cpuMs ?? {});
  const perCall = names.map((name) => {
    const us = of(({ usage, load }) => ((usage.cpuMs[name] ?? 0) * 1_000) / load.responses);
    return `${name} ${us.toFixed(0)}`;
  });
  const rate = of(({ load }) => load.perSecond).toFixed(0);
  const p50 = of(({ load }) => load.latency.p50Ms).toFixed(2);
  const p99 = of(({ load }) => load.latency.p99Ms).toFixed(1);
  const messages = of(({ logMessages, load }) => logMessages / load.responses).toFixed(2);
  return `${rate}/s, p50 ${p50}, p99 ${p99} ms, ${messages} log messages per call, µs of CPU per call: ${perCall.join(", ")}`;
}

const { stop: signal } = listenForStop(process, () => performance.now());
const [kind, ...words] = process.argv.slice(2);
if (kind !== "single" && kind !== "split") throw new Error(USAGE);
const toOrder = (text: string) => ({ text, order: orderOf(text) });
const { windows: orders, profile, others, times } = readWindowArguments(words, toOrder);
if (kind === "split" && others.length > 0) throw new Error(USAGE);
const profileDir = profile ? file("../.data/bench-profile") : undefined;
if (profileDir) await mkdir(profileDir, { recursive: true });
await using resources = new AsyncDisposableStack();
const folder = resources.use(await openWorkFolder(file("../.data/bench")));

async function start(kind: TopologyKind, name: string, checkout?: string) {
  const settings = {
    dataDir: `${folder.path}/${name}`,
    receiver: undefined,
    profileDir,
    checkout,
    log: () => {},
    signal,
  };
  return resources.use(await startInstallation(kind, settings));
}

const installation = await start(kind, kind);
const versions: Version[] = [{ name: kind, variant: await toolgateVariant(installation) }];
for (const checkout of others) {
  const name = basename(checkout);
  versions.push({ name, variant: await toolgateVariant(await start("single", name, checkout)) });
}
versions.push({ name: "fastify", variant: await startFastify(resources, installation, signal) });
const generator = await startGenerator(resources, signal);
for (const { variant } of versions) await measureWindow(variant, WARM_UP, { generator, signal });
const measured = new Map<string, Window[]>();
for (let round = 0; round < times; round += 1)
  for (const { text, order } of orders)
    for (const { name, variant } of versions) {
      const shown = `${name} ${text}`;
      const windows = [...(measured.get(shown) ?? []), await measureWindow(variant, order, { generator, signal })];
      measured.set(shown, windows);
    }
for (const [shown, windows] of measured) console.log(`${shown}: ${describe(windows)}`);
