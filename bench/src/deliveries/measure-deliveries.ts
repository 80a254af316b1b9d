import pLimit from "p-limit";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { type BacklogFigures, type DeliveriesSettings, measureBacklog } from "./backlog.ts";
import type { EventTarget } from "./messages.ts";
import { greet, type Pace, type Saturated, type Steady, saturate, sendSteadily } from "./traffic.ts";

/** Endpoints, and the pace at which latency is measured: a third of the target rate, where there is one. */
type Size = DeliverySize & { perSecond: number };

const SIZES: readonly Size[] = [
  { endpoints: 1, workspaces: 1, perSecond: 100 },
  { endpoints: 100, workspaces: 5, perSecond: 333 },
  { endpoints: 1_000, workspaces: 100, perSecond: 500 },
];

export type SizeFigures = DeliverySize & {
  full: Saturated;
  third: Steady;
  /** Transactions of the whole installation in PostgreSQL per delivery at the full rate. */
  transactions: number;
};

export type DeliveryFigures = {
  sizes: SizeFigures[];
  hanging: HangingFigures[];
  backlog: BacklogFigures;
};

const MIN_FULL_MS = 10_000;
const BACKLOG_PER_ENDPOINT = 20;
const MIN_BACKLOG = 300;
const MAX_BACKLOG = 3_000;

export async function measureDeliveries(settings: DeliveriesSettings): Promise<DeliveryFigures> {
  const sizes: SizeFigures[] = [];
  const kept: { size: SizeFigures; set: EndpointSet }[] = [];
  for (const size of SIZES) {
    const set = await registerEndpoints(settings.installation, settings.receiverUrl, size);
    const figures = await measureSize(settings, size, set);
    sizes.push(figures);
    if (size.workspaces > 1) kept.push({ size: figures, set });
  }
  const hanging: HangingFigures[] = [];
  const healthy: EndpointSet["targets"] = [];
  for (const { size, set } of kept) {
    const figures = await measureHanging(settings, size, set);
    hanging.push(figures);
    healthy.splice(0, healthy.length, ...set.targets.slice(figures.hangingEndpoints));
  }
  return { sizes, hanging, backlog: await measureBacklog(settings, healthy) };
}

async function measureSize(settings: DeliveriesSettings, size: Size, set: EndpointSet): Promise<SizeFigures> {
  const { traffic, seconds, installation, log } = settings;
  const { endpoints, workspaces, perSecond } = size;
  const { pool } = installation.servers;
  const transactions = async () => {
    const { rows } = await pool.query(
      "select xact_commit::integer as count from pg_stat_database where datname = current_database()",
    );
    return rows[0].count as number;
  };
  await traffic.publisher.ask({ kind: "targets", targets: set.targets });
  await greet(traffic, endpoints);
  const backlog = Math.min(Math.max(endpoints * BACKLOG_PER_ENDPOINT, MIN_BACKLOG), MAX_BACKLOG);
  const before = await transactions();
  const full = await saturate(traffic, backlog, Math.max(MIN_FULL_MS, seconds * 1000));
  const perDelivery = ((await transactions()) - before) / full.deliveredInAll;
  const third = await sendSteadily(traffic, { perSecond, forMs: (seconds * 1000 * 2) / 3 });
  const { p50Ms, p99Ms } = third.latency;
  log(
    `deliveries to ${endpoints}: ${full.perSecond.toFixed(0)}/s; at ${perSecond}/s p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms`,
  );
  return { endpoints, workspaces, full, third, transactions: perDelivery };
}

const HANGING_SHARE = 0.1;

export type HangingFigures = DeliverySize & {
  hangingEndpoints: number;
  hungRequests: number;
  /** The same endpoints and pace with all of them responding. */
  quiet: Steady;
  /** From the moment they begin to hang until their first attempts have timed out. */
  onset: Steady;
  /** After the onset. */
  after: Steady;
};

/** Longer than the 10 s after which an attempt times out. */
const ONSET_MS = 12_000;

/** Healthy endpoints while others never respond, at the pace of `third`. */
async function measureHanging(
  { traffic, seconds, log }: DeliveriesSettings,
  { endpoints, workspaces, third: quiet }: DeliverySize & { third: Steady },
  set: EndpointSet,
): Promise<HangingFigures> {
  const { publisher, receiver } = traffic;
  await publisher.ask({ kind: "targets", targets: set.targets });
  await greet(traffic, endpoints);
  // Neighbours belong to different workspaces, so every workspace has its share of the first ones.
  const paths = set.paths.slice(0, Math.round(endpoints * HANGING_SHARE));
  const before = await receiver.ask({ kind: "hang", paths });
  const { perSecond } = quiet;
  const pace: Omit<Pace, "forMs"> = { perSecond, getsResponse: (n) => n % endpoints >= paths.length };
  const onset = await sendSteadily(traffic, { ...pace, forMs: ONSET_MS });
  const after = await sendSteadily(traffic, { ...pace, forMs: (seconds * 1000 * 2) / 3 });
  const { hung } = await receiver.ask({ kind: "count" });
  const p99 = (steady: Steady) => steady.latency.p99Ms.toFixed(1);
  log(
    `of ${endpoints} hang ${paths.length}: p99 ${p99(onset)} ms at the onset, ${p99(after)} after, ${p99(quiet)} without`,
  );
  const hungRequests = hung - before.hung;
  return { endpoints, workspaces, hangingEndpoints: paths.length, hungRequests, quiet, onset, after };
}

/** Endpoints, each of which subscribes to a type of its own, and the paths of their URLs. */
export type EndpointSet = { targets: EventTarget[]; paths: string[] };

/** How many endpoints, in how many workspaces. */
export type DeliverySize = { endpoints: number; workspaces: number };

const CONCURRENT_REQUESTS = 8;
/** As many as there are database connections: each occupies one while a password is hashed. */
const CONCURRENT_WORKSPACES = 2;

/**
 * Registers endpoints over the management API. Neighbours in the list belong to different workspaces, so that events
 * taken in turn load all workspaces evenly.
 */
export async function registerEndpoints(
  installation: BenchInstallation,
  receiverUrl: string,
  { endpoints, workspaces }: DeliverySize,
): Promise<EndpointSet> {
  const names = Array.from({ length: workspaces }, (_, index) => `hooks-${endpoints}-${index}`);
  const ids = await pLimit(CONCURRENT_WORKSPACES).map(names, (name) => installation.addWorkspace(name));
  const plan = Array.from({ length: endpoints }, (_, index) => {
    const at = index % names.length;
    return { workspace: names[at] as string, workspaceId: ids[at] as string, type: `custom.e${index}` };
  });
  const paths = plan.map((_, index) => `/${endpoints}/${index}`);
  await pLimit(CONCURRENT_REQUESTS).map(plan, ({ workspace, type }, index) =>
    installation.manage("outbound_webhook.v1.EndpointService/CreateEndpoint", {
      workspace,
      url: `${receiverUrl}${paths[index]}`,
      events: [type],
    }),
  );
  return { targets: plan, paths };
}
