// Measures on real servers what the simulation is compared with, and adds it to bench/simulate/real.json: about 2 minutes.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { listenForStop } from "@toolgate/local/stopping";
import { type DeliverySize, registerEndpoints } from "../src/deliveries/measure-deliveries.ts";
import { greet, saturate, sendSteadily, startReceiver, startTraffic, type Traffic } from "../src/deliveries/traffic.ts";
import { type BenchInstallation, startInstallation } from "../src/installation/start-installation.ts";
import { openWorkFolder } from "../src/installation/work-folder.ts";
import type { LatencySummary } from "../src/statistics.ts";
import { jainsIndex } from "./fairness.ts";

export interface RealFigures {
  date: string;
  sizes: (DeliverySize & { backlog: number; perSecond: number })[];
  /** Undefined: the backlogs did not last. */
  overload?: DeliverySize & {
    respondAfterMs: number;
    waiting: number;
    perSecond: number;
    fairness: number;
    quietWorkspaces: number;
    quietPerSecond: number;
    quiet: LatencySummary;
  };
}

const SIZES: readonly (DeliverySize & { backlog: number })[] = [
  { workspaces: 10, endpoints: 50, backlog: 1_000 },
  { workspaces: 40, endpoints: 400, backlog: 3_000 },
];
const MEASURE_MS = 10_000;
const LOADED: DeliverySize = { workspaces: 8, endpoints: 40 };
const QUIET: DeliverySize = { workspaces: 10, endpoints: 10 };
const RESPOND_AFTER_MS = 50;
/** The backlogs of workspaces differ: these shares in turn. */
const SHARES = [2, 3, 4] as const;
/** More than a workspace gets delivered while the backlogs are stored and measured. */
const EVENTS_PER_SHARE = 1_500;
const QUIET_PER_SECOND = 10;
const FILL_WITHIN_MS = 60_000;
const POLL_MS = 200;

interface Rig {
  installation: BenchInstallation;
  traffic: Traffic;
  receiverUrl: string;
  log: (line: string) => void;
}

async function measureSizes({ installation, traffic, receiverUrl, log }: Rig): Promise<RealFigures["sizes"]> {
  const measured: RealFigures["sizes"] = [];
  for (const size of SIZES) {
    const { targets } = await registerEndpoints(installation, receiverUrl, size);
    await traffic.publisher.ask({ kind: "targets", targets });
    await greet(traffic, size.endpoints);
    const { perSecond } = await saturate(traffic, size.backlog, MEASURE_MS);
    log(`${size.workspaces} workspaces, ${size.endpoints} endpoints: ${perSecond.toFixed(0)}/s`);
    measured.push({ ...size, perSecond });
  }
  return measured;
}

/** Workspaces with backlogs of different lengths, next to quiet ones. */
async function measureOverload({
  installation,
  traffic,
  receiverUrl,
  log,
}: Rig): Promise<NonNullable<RealFigures["overload"]>> {
  const { publisher, receiver } = traffic;
  const loaded = await registerEndpoints(installation, receiverUrl, LOADED);
  const quiet = await registerEndpoints(installation, receiverUrl, QUIET);
  await publisher.ask({ kind: "targets", targets: quiet.targets });
  await greet(traffic, QUIET.endpoints);
  await receiver.ask({ kind: "slow", paths: loaded.paths, respondAfterMs: RESPOND_AFTER_MS });
  const shares = loaded.targets.flatMap((target, index) =>
    Array.from({ length: SHARES[(index % LOADED.workspaces) % SHARES.length] ?? 1 }, () => target),
  );
  await publisher.ask({ kind: "targets", targets: shares });
  const events = Math.round((EVENTS_PER_SHARE * shares.length * LOADED.workspaces) / LOADED.endpoints);
  await publisher.ask({ kind: "burst", count: events });
  const ids = [...new Set(loaded.targets.map(({ workspaceId }) => workspaceId))];
  const { pool } = installation.servers;
  const count = async (text: string, values: unknown[]) => (await pool.query(text, values)).rows;
  const stored = async () =>
    (await count("select count(*)::integer as n from outbound_webhook.delivery where workspace_id = any($1)", [ids]))[0]
      .n;
  const deadline = performance.now() + FILL_WITHIN_MS;
  while ((await stored()) < events) {
    if (performance.now() > deadline) throw new Error("the backlog was not stored in time");
    await sleep(POLL_MS, undefined, { signal: traffic.signal });
  }
  await publisher.ask({ kind: "targets", targets: quiet.targets });
  const from = new Date();
  const steady = await sendSteadily(traffic, { perSecond: QUIET_PER_SECOND, forMs: MEASURE_MS });
  const until = new Date();
  const rows = await count(
    `select workspace_id, count(*)::integer as n from outbound_webhook.delivery
     where workspace_id = any($1) and finished_at >= $2 and finished_at < $3 group by workspace_id`,
    [ids, from, until],
  );
  const waiting = (
    await count(
      `select min(n)::integer as n from (
         select count(item_id) as n from unnest($1::text[]) as id left join outbound_webhook.queue_item on group_id = id group by id
       ) backlogs`,
      [ids],
    )
  )[0].n;
  const served = ids.map((id) => (rows.find((row) => row.workspace_id === id)?.n as number) ?? 0);
  const perSecond = (served.reduce((sum, n) => sum + n, 0) * 1_000) / (until.getTime() - from.getTime());
  const fairness = jainsIndex(served);
  log(`overload: ${perSecond.toFixed(0)}/s, fairness ${fairness.toFixed(4)}, shortest backlog at the end ${waiting}`);
  return {
    ...LOADED,
    respondAfterMs: RESPOND_AFTER_MS,
    waiting,
    perSecond,
    fairness,
    quietWorkspaces: QUIET.workspaces,
    quietPerSecond: QUIET_PER_SECOND,
    quiet: steady.latency,
  };
}

const { stop: signal } = listenForStop(process, () => performance.now());
const log = (line: string) => void process.stderr.write(`${line}\n`);
await using folder = await openWorkFolder(fileURLToPath(new URL("../../.data/bench-simulate", import.meta.url)));
await using resources = new AsyncDisposableStack();
const receiver = await startReceiver(resources, { dataDir: folder.path, signal });
const dataDir = join(folder.path, "single");
const installation = resources.use(await startInstallation("single", { dataDir, receiver, log, signal }));
const traffic = await startTraffic(resources, installation, receiver.process, { signal });
const rig: Rig = { installation, traffic, receiverUrl: receiver.url, log };
const figures: RealFigures = {
  date: new Date().toISOString(),
  sizes: await measureSizes(rig),
  overload: await measureOverload(rig),
};
const file = fileURLToPath(new URL("./real.json", import.meta.url));
const runs = JSON.parse(await readFile(file, "utf8").catch(() => "[]")) as RealFigures[];
await writeFile(file, `${JSON.stringify([...runs, figures], null, 2)}\n`);
