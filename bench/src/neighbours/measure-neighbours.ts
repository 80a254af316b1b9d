import { setTimeout as sleep } from "node:timers/promises";
import type { ReceiverProcess } from "../deliveries/traffic.ts";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import { type MeasuredAgain, type Paused, startPauseWatch, withoutPauses } from "../machine/pauses.ts";
import { type LatencySummary, median } from "../statistics.ts";
import { ATTACKS } from "./attacks.ts";
import { DELIVERED_TOOLS } from "./noisy-tools.ts";
import type { Attack } from "./noisy-workspace.ts";
import type { NoisyAnswer, NoisyOrder, QuietAnswer, QuietArgument, QuietOrder } from "./orders.ts";

/** What the quiet workspace saw in one window. */
type Seen = MeasuredAgain & Paused & { calls: LatencySummary; deliveries: LatencySummary; failed: number };

export type NeighbourFigures = {
  what: string;
  lanes: number;
  without: Seen[];
  with: Seen[];
  /** Responses that the noisy workspace got. */
  noisy: Record<string, number>;
};

type NeighboursSettings = {
  installation: BenchInstallation;
  receivers: { quiet: ReceiverProcess; noisy: ReceiverProcess };
  rounds: number;
  seconds: number;
  /** A pattern of the names of the attacks to make; "" for all. */
  attack: string;
  signal: AbortSignal;
  log: (line: string) => void;
};

const QUIET = "quiet";
const PER_SECOND = 40;
const EMIT_EVERY = 4;
const LEAD_MS = 1_500;
const WARM_UP_MS = 2_000;
const SETTLE_WITHIN_MS = 20_000;
const POLL_MS = 100;
const SLOW_MS = 200;
/** The time in which the deliveries of a window arrive, if they do. */
const LAST_DELIVERY_MS = 1_000;

/** A quiet workspace calls its tools at a fixed, low rate, without and with another one that does its worst. */
export async function measureNeighbours(settings: NeighboursSettings): Promise<NeighbourFigures[]> {
  const { installation, receivers, rounds, seconds, signal, log } = settings;
  await using resources = new AsyncDisposableStack();
  await installation.addWorkspace(QUIET);
  const secret = await prepareQuiet(installation, receivers.quiet.url);
  const attacks = ATTACKS.filter(({ what }) => new RegExp(settings.attack).test(what));
  const noisyReceiver = receivers.noisy.process;
  await noisyReceiver.ask({ kind: "slow", paths: [DELIVERED_TOOLS["emit-fast"] ?? ""], respondAfterMs: 0 });
  await noisyReceiver.ask({ kind: "slow", paths: [DELIVERED_TOOLS["emit-slow"] ?? ""], respondAfterMs: SLOW_MS });
  await noisyReceiver.ask({ kind: "refuse", paths: [DELIVERED_TOOLS["emit-refused"] ?? ""] });
  const argument: QuietArgument = { port: installation.port, secret, perSecond: PER_SECOND, emitEvery: EMIT_EVERY };
  const entry = (name: string) => new URL(`./${name}.ts`, import.meta.url);
  const quiet = resources.use(
    await startBenchProcess<object, QuietOrder, QuietAnswer>(entry("quiet-caller"), { argument, signal }),
  );
  const noisy = resources.use(
    await startBenchProcess<object, NoisyOrder, NoisyAnswer>(entry("noisy-caller"), { signal }),
  );

  const pauses = resources.use(await startPauseWatch(signal));

  const see = (forMs: number) => pauses.during(() => seeQuiet(forMs));
  async function seeQuiet(forMs: number): Promise<Omit<Seen, "again" | "pausedShare">> {
    const { latency, statuses, events } = await quiet.ask({ forMs });
    await sleep(LAST_DELIVERY_MS, undefined, { signal });
    const report = await receivers.quiet.process.ask({ kind: "report", ...events });
    const calls = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    const wanted = events.until - events.from;
    const deliveries = report.latency ?? { count: 0, p50Ms: Number.NaN, p99Ms: Number.NaN, maxMs: Number.NaN };
    const missing = wanted - deliveries.count;
    return { calls: latency, deliveries, failed: calls - (statuses[200] ?? 0) + missing };
  }

  async function measure({ what, lanes, prepare }: Attack, number: number): Promise<NeighbourFigures> {
    const name = `noisy-${number}`;
    await installation.addWorkspace(name);
    const requests = await prepare({ name, installation, receiverUrl: receivers.noisy.url });
    const figures: NeighbourFigures = { what, lanes, without: [], with: [], noisy: {} };
    const disturbed = async () => {
      const forMs = LEAD_MS + seconds * 1000 + LAST_DELIVERY_MS;
      const begun = sleep(LEAD_MS, undefined, { signal });
      const [{ statuses }, seen] = await Promise.all([
        noisy.ask({ port: installation.port, requests, lanes, forMs }),
        begun.then(() => see(seconds * 1000)),
      ]);
      for (const [status, count] of Object.entries(statuses))
        figures.noisy[status] = (figures.noisy[status] ?? 0) + count;
      return seen;
    };
    for (let round = 1; round <= rounds; round += 1) {
      await settle(installation, signal);
      figures.without.push(await withoutPauses(log, () => see(seconds * 1000)));
      figures.with.push(await withoutPauses(log, disturbed));
    }
    log(`${what}: ${describe(figures)}`);
    return figures;
  }

  await quiet.ask({ forMs: WARM_UP_MS });
  const all: NeighbourFigures[] = [];
  for (const [index, attack] of attacks.entries()) all.push(await measure(attack, index + 1));
  return all;
}

/** The median of the windows. */
export function seenIn(windows: readonly Seen[], of: "calls" | "deliveries", value: "p50Ms" | "p99Ms"): number {
  return median(windows.map((window) => window[of][value]));
}

function describe(figures: NeighbourFigures): string {
  const show = (windows: readonly Seen[], of: "calls" | "deliveries") =>
    `${seenIn(windows, of, "p50Ms").toFixed(1)}/${seenIn(windows, of, "p99Ms").toFixed(1)}`;
  const pair = (of: "calls" | "deliveries") => `${of} ${show(figures.without, of)} → ${show(figures.with, of)} ms`;
  const failed = figures.with.reduce((sum, one) => sum + one.failed, 0);
  return `${pair("calls")}, ${pair("deliveries")}, ${failed} failed; noisy ${JSON.stringify(figures.noisy)}`;
}

/** Returns the key of the quiet workspace. */
async function prepareQuiet({ manage }: BenchInstallation, receiverUrl: string): Promise<string> {
  const own = <T>(rpc: string, request: Record<string, unknown>) => manage<T>(rpc, { workspace: QUIET, ...request });
  const tools = {
    plain: "export default async (args) => ({ success: true, args });",
    announce:
      'export default async (args, ctx) => { await ctx.emitWebhook("quiet", args); return { success: true }; };',
  };
  const number = { type: "number" };
  for (const [name, handler] of Object.entries(tools))
    await own("tool_runner.v1.ToolService/SaveTool", {
      name,
      definition: {
        description: "A quiet tool",
        external_api: true,
        external_api_write: true,
        parameters: { type: "object", properties: { count: number, n: number, at: number } },
        handler,
      },
      confirmExposure: true,
    });
  await own("outbound_webhook.v1.EndpointService/CreateEndpoint", {
    url: `${receiverUrl}/quiet`,
    events: ["custom.quiet"],
  });
  const key = { name: "Quiet", tools: Object.keys(tools), limit: 10_000 };
  return (await own<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key)).secret;
}

/** Waits until what the last attack left behind has been worked off, except deliveries to slow receivers. */
async function settle({ servers }: BenchInstallation, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + SETTLE_WITHIN_MS;
  while (performance.now() < deadline) {
    const { rows } = await servers.pool.query("select count(*)::integer as left from tool_runner.outbox");
    const { state: calls } = await servers.bus.jsm.streams.info("CALLS");
    const { state: records } = await servers.bus.jsm.streams.info("RECORDS");
    if (rows[0].left === 0 && calls.messages === 0 && records.messages === 0) break;
    await sleep(POLL_MS, undefined, { signal });
  }
  await servers.pool
    .query(
      "delete from outbound_webhook.queue_item where group_id in (select group_id from outbound_webhook.queue_item group by group_id having count(*) > 50)",
    )
    .catch(() => {});
  await sleep(POLL_MS * 5, undefined, { signal });
}
