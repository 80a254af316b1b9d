import { loadavg } from "node:os";
import pLimit from "p-limit";
import { type BenchInstallation, MAIN_WORKSPACE } from "../installation/start-installation.ts";
import { deliveryCases } from "./delivery-cases.ts";
import { type DeliveryLog, fillDeliveries, someEvents } from "./fill-deliveries.ts";
import { fillKeys, fillUsageLog, type UsageLog } from "./fill-usage-log.ts";
import { fillingPool, writeOut } from "./filling.ts";
import { documentCases, keyListCases, keyUsageCases, saveTools } from "./key-cases.ts";
import { type GroupFigures, measureGroup, type RequestCase } from "./measure-requests.ts";

export type LargeTableFigures = Filled & {
  keyLists: GroupFigures;
  keyUsage: GroupFigures;
  documents: GroupFigures;
  deliveries: GroupFigures;
};

type Filled = {
  usageLog: UsageLog;
  deliveryLog: DeliveryLog;
  tookSeconds: number;
  /** Runnable processes of the last minute, when the tables were full. */
  load: number;
};

type LargeTableSettings = {
  installation: BenchInstallation;
  signal: AbortSignal;
  log: (line: string) => void;
  /** Rows of the usage log, and of the delivery log. */
  rows?: number;
};

const ROWS = 10_000_000;
const OTHER_WORKSPACES = Array.from({ length: 40 }, (_, index) => `other-${index}`);
const CONCURRENT_REQUESTS = 2;
const EVENTS = 100;

/** Fills the tables of an installation that is deleted afterwards, and requests pages of them as the web page does. */
export async function measureLargeTables(settings: LargeTableSettings): Promise<LargeTableFigures> {
  const filled = await fillTables(settings);
  settings.log(`large tables: filled in ${filled.tookSeconds.toFixed(0)} s`);
  return { ...filled, ...(await measureFilled(settings)) };
}

async function fillTables(settings: LargeTableSettings): Promise<Filled> {
  const { installation, signal, log, rows = ROWS } = settings;
  const { databaseUrl } = installation.servers;
  const startMs = performance.now();
  await saveTools(installation.manage);
  const others = await pLimit(CONCURRENT_REQUESTS).map(OTHER_WORKSPACES, (code) => installation.addWorkspace(code));
  const found = await installation.servers.pool.query("select id from key_auth.workspaces where code = $1", [
    MAIN_WORKSPACE,
  ]);
  const workspaceIds = [found.rows[0].id as string, ...others];
  await using resources = new AsyncDisposableStack();
  const pool = resources.adopt(fillingPool(databaseUrl), (owned) => owned.end());
  const now = new Date();
  await fillKeys(pool, workspaceIds);
  const usageLog = await fillUsageLog(pool, { rows, now, signal });
  const deliveryLog = await fillDeliveries(pool, workspaceIds, { rows, now, signal });
  await writeOut(pool).catch((error: Error) => log(`large tables: a checkpoint may be under way: ${error.message}`));
  const tookSeconds = (performance.now() - startMs) / 1000;
  return { usageLog, deliveryLog, tookSeconds, load: loadavg()[0] ?? Number.NaN };
}

async function measureFilled(settings: LargeTableSettings) {
  const { manage, servers, port } = settings.installation;
  const eventIds = await someEvents(servers.pool, EVENTS);
  const [otherWorkspace = ""] = OTHER_WORKSPACES;
  const deliveries = deliveryCases(manage, { otherWorkspace, eventIds, now: new Date() });
  return {
    keyLists: await measureCases(await keyListCases(manage), settings),
    keyUsage: await measureCases(await keyUsageCases(manage, servers.pool), settings),
    documents: await measureCases(await documentCases(manage, `http://127.0.0.1:${port}`), settings),
    deliveries: await measureCases(deliveries, settings),
  };
}

function measureCases(cases: readonly RequestCase[], { installation, signal, log }: LargeTableSettings) {
  return measureGroup(cases, { groups: installation.groups, signal }, ({ name, alone, rows, cpuMs }) => {
    const times = `p50 ${alone.p50Ms.toFixed(1)} p99 ${alone.p99Ms.toFixed(1)} max ${alone.maxMs.toFixed(1)} ms`;
    log(`${name}: ${times}, ${cpuMs.toFixed(1)} ms of CPU, ${rows.toFixed(1)} rows`);
  });
}
