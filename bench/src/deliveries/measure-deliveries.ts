import { type BacklogFigures, measureBacklog } from "./backlog.ts";
import { type EndpointCounts, type EndpointSet, registerEndpoints } from "./endpoints.ts";
import { type HangingFigures, measureHanging } from "./hanging.ts";
import type { DeliveriesSettings } from "./settings.ts";
import { greet, type Saturated, type Steady, saturate, sendSteadily } from "./traffic.ts";

/** The pace at which latency is measured, a third of what is wanted of the full rate where there is such a wish. */
type Size = EndpointCounts & { perSecond: number };

const SIZES: readonly Size[] = [
  { endpoints: 1, workspaces: 1, perSecond: 100 },
  { endpoints: 100, workspaces: 5, perSecond: 333 },
  { endpoints: 1_000, workspaces: 100, perSecond: 500 },
];

export type SizeFigures = EndpointCounts & {
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
