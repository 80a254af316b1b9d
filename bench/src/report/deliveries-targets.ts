import type { HangingFigures } from "../deliveries/hanging.ts";
import type { DeliveryFigures, SizeFigures } from "../deliveries/measure-deliveries.ts";
import { ratio } from "../statistics.ts";
import { figure } from "./table.ts";

export type Target = { what: string; measured: number; wanted: string; isMet: boolean; shown: string };

const PER_SECOND: Readonly<Record<number, number>> = { 100: 1_000, 1000: 1_500 };
const P50_MS = 25;
const HANGING_OF_QUIET = 2;
const BESIDE_BACKLOG_MS = 100;

export function deliveryTargets({ sizes, hanging, backlog }: DeliveryFigures): Target[] {
  return [...sizes.flatMap(rateTargets), ...hanging.flatMap(hangingTargets), backlogTarget(backlog)];
}

function rateTargets({ endpoints, workspaces, full, third }: SizeFigures): Target[] {
  const wanted = PER_SECOND[endpoints];
  if (wanted === undefined) return [];
  const rate: Target = {
    what: `Deliveries per second to ${figure(endpoints)} endpoints of ${workspaces} workspaces`,
    measured: full.perSecond,
    shown: figure(full.perSecond),
    wanted: `≥ ${figure(wanted)}`,
    isMet: full.perSecond >= wanted,
  };
  return [rate, below(`The same, ${third.perSecond} events/s, event to received: p50`, third.latency.p50Ms, P50_MS)];
}

function hangingTargets({ endpoints, quiet, onset, after }: HangingFigures): Target[] {
  const target = (when: string, p99Ms: number): Target => {
    const times = ratio(p99Ms, quiet.latency.p99Ms);
    return {
      what: `Healthy p99 with 10 % of ${figure(endpoints)} endpoints hanging, ${when}: times the p99 without`,
      measured: times,
      shown: figure(times, 2),
      wanted: `≤ ${HANGING_OF_QUIET}`,
      isMet: times <= HANGING_OF_QUIET,
    };
  };
  return [target("first 12 s", onset.latency.p99Ms), target("afterwards", after.latency.p99Ms)];
}

function backlogTarget({ waitingBefore, others }: DeliveryFigures["backlog"]): Target {
  const what = `Event to received beside a workspace with ${figure(waitingBefore)} waiting deliveries: the slowest`;
  return below(what, others.missing > 0 ? Number.NaN : others.latency.maxMs, BESIDE_BACKLOG_MS);
}

function below(what: string, ms: number, wanted: number): Target {
  return { what, measured: ms, shown: `${figure(ms, 1)} ms`, wanted: `< ${wanted} ms`, isMet: ms < wanted };
}
