import { mkdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { type EndpointSet, registerEndpoints } from "./src/deliveries/measure-deliveries.ts";
import {
  greet,
  type Saturated,
  saturate,
  startReceiver,
  startTraffic,
  type Traffic,
} from "./src/deliveries/traffic.ts";
import { type BenchInstallation, startInstallation } from "./src/installation/start-installation.ts";
import { openWorkFolder } from "./src/installation/work-folder.ts";
import { readWindowArguments } from "./src/window-arguments.ts";

const USAGE = `node bench/delivery-windows.ts [--profile] [--with FOLDER]... [--times N] [ENDPOINTS:WORKSPACES:SECONDS]...
Deliveries at the full rate in windows of your choice; with other checkouts, also their deliveries, in turns.`;
const BACKLOG_PER_ENDPOINT = 20;
const MAX_BACKLOG = 3_000;
const LEAD_MS = 1_000;
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

type Size = { endpoints: number; workspaces: number; seconds: number };

type Version = {
  name: string;
  installation: BenchInstallation;
  traffic: Traffic;
  receiverUrl: string;
  sets: Map<Size, EndpointSet>;
};

function sizeOf(text: string): Size {
  const [, endpoints, workspaces, seconds] = (/^(\d+):(\d+):(\d+)$/.exec(text) ?? []).map(Number);
  if (!endpoints || !workspaces || !seconds) throw new Error(USAGE);
  return { endpoints, workspaces, seconds };
}

function describe({ perSecond, delivered, usage, repeated, missing }: Saturated): string {
  const perDelivery = Object.entries(usage.cpuMs).map(([name, ms]) => [name, (ms * 1_000) / delivered] as const);
  const shown = perDelivery.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(", ");
  const services = ["toolgate", "postgres", "nats"];
  const together = perDelivery.filter(([name]) => services.includes(name)).reduce((sum, [, us]) => sum + us, 0);
  const flaws = `repeated ${repeated}, missing ${missing}`;
  return `${perSecond.toFixed(0)}/s, µs of CPU per delivery: services ${together.toFixed(0)} (${shown}), ${flaws}`;
}

const { stop: signal } = listenForStop(process, () => performance.now());
const { windows: sizes, profile, others, times } = readWindowArguments(process.argv.slice(2), sizeOf);
const profileDir = profile ? file("../.data/bench-profile") : undefined;
if (profileDir) await mkdir(profileDir, { recursive: true });
await using resources = new AsyncDisposableStack();
const folder = resources.use(await openWorkFolder(file("../.data/bench")));

async function startVersion(name: string, checkout: string | undefined): Promise<Version> {
  const dataDir = `${folder.path}/${name}`;
  await mkdir(dataDir, { recursive: true });
  const receiver = await startReceiver(resources, { dataDir, signal });
  const settings = { dataDir, receiver, profileDir, checkout, log: () => {}, signal };
  const installation = resources.use(await startInstallation("single", settings));
  const traffic = await startTraffic(resources, installation, receiver.process, { signal });
  const sets = new Map<Size, EndpointSet>();
  for (const size of sizes) sets.set(size, await registerEndpoints(installation, receiver.url, size));
  return { name, installation, traffic, receiverUrl: receiver.url, sets };
}

const versions = [await startVersion("this", undefined)];
for (const folder of others) versions.push(await startVersion(basename(folder), folder));
for (let round = 0; round < times; round += 1)
  for (const size of sizes)
    for (const { name, traffic, sets } of versions) {
      const { endpoints, workspaces, seconds } = size;
      await traffic.publisher.ask({ kind: "targets", targets: sets.get(size)?.targets ?? [] });
      await greet(traffic, endpoints);
      const backlog = Math.min(endpoints * BACKLOG_PER_ENDPOINT, MAX_BACKLOG);
      const full = await saturate(traffic, backlog, seconds * 1_000, LEAD_MS);
      console.log(`${name} ${endpoints} endpoints of ${workspaces} workspaces: ${describe(full)}`);
    }
