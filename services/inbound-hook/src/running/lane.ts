import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { WakeUp } from "@toolgate/event-bus/wake-up";
import { createGroupBatches } from "@toolgate/postgres/fair-queue/group-batches";
import { runEvery } from "@toolgate/service-host/every";
import type { Loops } from "@toolgate/service-host/loops";
import type { ClaimDeliveries, ClaimedDelivery } from "../store/runs/claim.ts";
import type { Leases } from "../store/runs/lease.ts";
import type { RunRecord, SettleRuns } from "../store/runs/settle.ts";
import type { UndoClaim } from "../store/runs/undo-claim.ts";
import { createDoubtfulClaims } from "./doubtful-claims.ts";
import type { RunDelivery } from "./run-delivery.ts";
import { keepTrying, storeRuns } from "./store-runs.ts";

export interface LaneOptions {
  /** Whether a claim may find deliveries. */
  isDue: (now: Date) => Promise<boolean>;
  claim: ClaimDeliveries;
  undoClaim: UndoClaim;
  settling: SettleRuns;
  leases: Leases;
  run: RunDelivery;
  /** [FAIR-4] Simultaneous runs of a workspace, over all processes. */
  perWorkspace: number;
  /** Simultaneous runs of this process; at least `perWorkspace`. */
  concurrency: number;
  wakeUp: WakeUp;
  now: () => Date;
  onError: (error: unknown) => void;
}

/** A run counts as interrupted when its process has not renewed the lease for this long. */
export const LEASE_MS = 30_000;
const RENEW_AFTER_MS = 5_000;
const SWEEP_EVERY_MS = 2_000;
/** Polls for due work, in case a wake-up was lost. */
const POLL_MS = 2_000;
const RETRY_WAIT_MS = 250;
/**
 * Bounds of the rest after a claim or a batch of results. It lets deliveries share claims, and results share batches:
 * the busier the database, the longer the rest. The first claim after a pause does not wait.
 */
const MIN_REST_MS = 4;
const MAX_REST_MS = 25;
/** The rest is this many times as long as the last claim or batch took. */
const REST_FACTOR = 2;
const MAX_GROUPS_PER_CLAIM = 40;
const MIB = 1024 * 1024;
/** A process has at most as many results as simultaneous runs, and each workspace has few of them. */
const RESULT_LIMITS = {
  maxInFlight: 1,
  maxItems: 100,
  maxBytes: 4 * MIB,
  maxWaitingItems: 50_000,
  maxWaitingBytes: 64 * MIB,
  groupShare: 1,
};

/**
 * Claims the due deliveries of a lane and runs their targets. Once stopped it claims nothing more, and ends when all
 * runs that this process waits for have ended and their results are stored; until then it renews their leases.
 */
export function laneLoops(options: LaneOptions): Loops {
  const { isDue, claim, undoClaim, settling, leases, run, perWorkspace, concurrency, wakeUp, now, onError } = options;
  const running = new Set<ClaimedDelivery>();
  const working = new Set<Promise<void>>();
  const doubtful = createDoubtfulClaims(undoClaim, now);
  /** Deliveries may be due that this process has no places for. */
  let lacksPlaces = false;
  let renewedAt = now().getTime();

  const results = createGroupBatches<RunRecord>({
    commit: (records, lockTimeoutMs) =>
      storeRuns(records, async (some) => {
        if (await settling.settle(some, now(), lockTimeoutMs)) wakeUp.signal();
      }),
    rest: (tookMs) => sleep(restMs(tookMs)),
    groupOf: ({ workspaceId }) => workspaceId,
    unlockedOf: settling.unlockedOf,
    sizeOf: ({ args, result, error }) => args.length + result.length + error.length,
    ...RESULT_LIMITS,
  });

  async function claimAndStart(maxGroups: number, stop: AbortSignal): Promise<boolean> {
    const at = now();
    const identity = { claimId: randomUUID(), leaseUntil: new Date(at.getTime() + LEASE_MS) };
    const { deliveries, full } = await claim({ ...identity, now: at, maxGroups }).catch((error) => {
      doubtful.add(identity);
      throw error;
    });
    for (const delivery of deliveries) {
      running.add(delivery);
      const work = run(delivery, stop)
        .then((record) => keepTrying(record, { results, stop, onError }))
        .catch(onError)
        .finally(() => {
          running.delete(delivery);
          working.delete(work);
          if (lacksPlaces) wakeUp.signal();
        });
      working.add(work);
    }
    return full;
  }

  async function serve(stop: AbortSignal): Promise<void> {
    let afterClaim = async () => {};
    let wasWoken = true;
    while (!stop.aborted) {
      await afterClaim();
      const from = performance.now();
      const places = Math.floor((concurrency - running.size) / perWorkspace);
      lacksPlaces = places === 0;
      try {
        const mayFind: boolean = places > 0 && (wasWoken || (await isDue(now())));
        const more: boolean = mayFind && (await claimAndStart(Math.min(places, MAX_GROUPS_PER_CLAIM), stop));
        afterClaim = restAfter(from);
        wasWoken = more || (await wakeUp.wait(POLL_MS, stop));
      } catch (error) {
        onError(error);
        wasWoken = await wakeUp.wait(RETRY_WAIT_MS, stop);
      }
    }
    await Promise.all(working);
    await results[Symbol.asyncDispose]();
    await doubtful.undo().catch(onError);
  }

  /** Renews before it looks for expired leases, so that after a pause a process does not interrupt its own runs. */
  async function keepLeases(): Promise<void> {
    const at = now().getTime();
    if (at - renewedAt >= RENEW_AFTER_MS) {
      if (running.size > 0) await leases.renew([...running], new Date(at + LEASE_MS));
      renewedAt = at;
    }
    const returned = await doubtful.undo();
    const interrupted = await leases.interruptExpired(now());
    if (returned + interrupted > 0) wakeUp.signal();
  }

  return { producers: [serve], consumers: [(stop) => runEvery(SWEEP_EVERY_MS, stop, keepLeases, onError)] };
}

/** For work that began at `from` and has just ended: a function that waits until the rest after it is over. */
function restAfter(from: number): () => Promise<void> {
  const endedAt = performance.now();
  const over = endedAt + restMs(endedAt - from);
  return async () => {
    const leftMs = over - performance.now();
    if (leftMs > 0) await sleep(leftMs);
  };
}

function restMs(tookMs: number): number {
  return Math.min(Math.max(MIN_REST_MS, tookMs * REST_FACTOR), MAX_REST_MS);
}
