import { randomUUID } from "node:crypto";
import type { WakeUp } from "@toolgate/event-bus/wake-up";
import { isAnyGroupDue } from "@toolgate/postgres/fair-queue/claim";
import { pause, runEvery } from "@toolgate/service-host/every";
import type { Loops } from "@toolgate/service-host/loops";
import type { LaneStore } from "../store/queue.ts";
import { type ClaimedDelivery, type ClaimIdentity, claimDeliveries } from "../store/runs/claim.ts";
import { interruptExpired, renewLeases } from "../store/runs/lease.ts";
import { settleRuns } from "../store/runs/settle.ts";
import { undoClaims } from "../store/runs/undo-claim.ts";
import { createResultStore } from "./result-store.ts";
import type { RunDelivery } from "./run-delivery.ts";

interface LaneOptions {
  store: LaneStore;
  run: RunDelivery;
  /** Simultaneous runs of this process; at least those of a workspace. */
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
/** Between two claims, so that calls that arrive together share one. */
const CLAIM_PAUSE_MS = 10;
const MAX_GROUPS_PER_CLAIM = 40;

/**
 * Claims the due deliveries of a lane and runs their targets. Once stopped it claims nothing more, and ends when all
 * runs that this process waits for have ended and their results are stored; until then it renews their leases.
 */
export function laneLoops(options: LaneOptions): Loops {
  const { store, run, concurrency, wakeUp, now, onError } = options;
  // [FAIR-4]
  const { perGroup: perWorkspace } = store.queue.caps;
  const running = new Map<ClaimedDelivery, Promise<void>>();
  /** Claims that failed, although the database may have committed them. */
  const unconfirmed = new Set<ClaimIdentity>();
  /** Deliveries may be due that this process has no places for. */
  let lacksPlaces = false;
  let renewedAt = now().getTime();

  const results = createResultStore(async (records, lockTimeoutMs) => {
    if (await settleRuns(store, records, now(), lockTimeoutMs)) wakeUp.signal();
  }, onError);

  async function claimAndStart(maxGroups: number, stop: AbortSignal): Promise<boolean> {
    const at = now();
    const identity = { claimId: randomUUID(), leaseUntil: new Date(at.getTime() + LEASE_MS) };
    const { deliveries, full } = await claimDeliveries(store, { ...identity, now: at, maxGroups }).catch((error) => {
      unconfirmed.add(identity);
      throw error;
    });
    for (const delivery of deliveries) {
      const work = run(delivery, stop)
        .then((record) => results.store(record, stop))
        .catch(onError)
        .finally(() => {
          running.delete(delivery);
          if (lacksPlaces) wakeUp.signal();
        });
      running.set(delivery, work);
    }
    return full;
  }

  async function serve(stop: AbortSignal): Promise<void> {
    let wasWoken = true;
    while (!stop.aborted) {
      const places = Math.floor((concurrency - running.size) / perWorkspace);
      lacksPlaces = places === 0;
      try {
        const mayFind: boolean =
          places > 0 && (wasWoken || (await isAnyGroupDue(store.pool, store.queue.tables, now())));
        const more: boolean = mayFind && (await claimAndStart(Math.min(places, MAX_GROUPS_PER_CLAIM), stop));
        if (mayFind) await pause(CLAIM_PAUSE_MS, stop);
        wasWoken = more || (await wakeUp.wait(POLL_MS, stop));
      } catch (error) {
        onError(error);
        wasWoken = await wakeUp.wait(RETRY_WAIT_MS, stop);
      }
    }
    await Promise.all(running.values());
    await results[Symbol.asyncDispose]();
    await undoClaims(store, unconfirmed, now).catch(onError);
  }

  /** Renews before it looks for expired leases, so that after a pause a process does not interrupt its own runs. */
  async function keepLeases(): Promise<void> {
    const at = now().getTime();
    if (at - renewedAt >= RENEW_AFTER_MS) {
      if (running.size > 0) await renewLeases(store, [...running.keys()], new Date(at + LEASE_MS));
      renewedAt = at;
    }
    const returned = await undoClaims(store, unconfirmed, now);
    const interrupted = await interruptExpired(store, now());
    if (returned + interrupted > 0) wakeUp.signal();
  }

  return { producers: [serve], consumers: [(stop) => runEvery(SWEEP_EVERY_MS, stop, keepLeases, onError)] };
}
