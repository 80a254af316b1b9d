import type { EndpointCounts, EndpointSet } from "./endpoints.ts";
import type { DeliveriesSettings } from "./settings.ts";
import { greet, type Steady, sendSteadily } from "./traffic.ts";

export const HANGING_SHARE = 0.1;

export type HangingFigures = EndpointCounts & {
  hangingEndpoints: number;
  hungRequests: number;
  /** The same endpoints and pace with all of them answering. */
  quiet: Steady;
  /** From the moment at which they begin to hang until their first attempts have run out of time. */
  onset: Steady;
  /** After that. */
  after: Steady;
};

/** Longer than the 10 s after which an attempt is given up. */
const ONSET_MS = 12_000;

/** Healthy endpoints beside others that get no answer, at the pace of `third`. */
export async function measureHanging(
  { traffic, seconds, log }: DeliveriesSettings,
  { endpoints, workspaces, third: quiet }: EndpointCounts & { third: Steady },
  set: EndpointSet,
): Promise<HangingFigures> {
  const { publisher, receiver } = traffic;
  await publisher.ask({ kind: "targets", targets: set.targets });
  await greet(traffic, endpoints);
  // The first ones: neighbours lie in different workspaces, so every workspace has its share of them.
  const paths = set.paths.slice(0, Math.round(endpoints * HANGING_SHARE));
  const before = await receiver.ask({ kind: "hang", paths });
  const { perSecond } = quiet;
  const pace = { perSecond, isAnswered: (n: number) => n % endpoints >= paths.length };
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
