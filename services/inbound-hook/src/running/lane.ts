import { randomUUID } from "node:crypto";
import type { WakeUp } from "@toolgate/event-bus/wake-up";
import { pause, runEvery } from "@toolgate/service-host/every";
import type { Loops } from "@toolgate/service-host/loops";
import type { ClaimDeliveries, ClaimedDelivery } from "../store/runs/claim.ts";
import type { Leases } from "../store/runs/lease.ts";
import type { SettleRuns } from "../store/runs/settle.ts";
import type { UndoClaim } from "../store/runs/undo-claim.ts";
import { createResultStore } from "./result-store.ts";
import type { RunDelivery } from "./run-delivery.ts";
import { createUnconfirmedClaims } from "./unconfirmed-claims.ts";

export interface LaneOptions {
  /** Whether a claim may find deliveries; costs much less than the claim. */
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
/** Between two claims, so that calls that arrive together share one. */
const CLAIM_PAUSE_MS = 10;
const MAX_GROUPS_PER_CLAIM = 40;

/**
 * Claims the due deliveries of a lane and runs their targets. Once stopped it claims nothing more, and ends when all
 * runs that this process waits for have ended and their results are stored; until then it renews their leases.
 */
export function laneLoops(options: LaneOptions): Loops {
  const { isDue, claim, undoClaim, settling, leases, run, perWorkspace, concurrency, wakeUp, now, onError } = options;
  const running = new Set<ClaimedDelivery>();
  const working = new Set<Promise<void>>();
  const unconfirmed = createUnconfirmedClaims(undoClaim, now);
  /** Deliveries may be due that this process has no places for. */
  let lacksPlaces = false;
  let renewedAt = now().getTime();

  const results = createResultStore(async (records, lockTimeoutMs) => {
    if (await settling.settle(records, now(), lockTimeoutMs)) wakeUp.signal();
  }, onError);

  async function claimAndStart(maxGroups: number, stop: AbortSignal): Promise<boolean> {
    const at = now();
    const identity = { claimId: randomUUID(), leaseUntil: new Date(at.getTime() + LEASE_MS) };
    const { deliveries, full } = await claim({ ...identity, now: at, maxGroups }).catch((error) => {
      unconfirmed.add(identity);
      throw error;
    });
    for (const delivery of deliveries) {
      running.add(delivery);
      const work = run(delivery, stop)
        .then((record) => results.store(record, stop))
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
    let wasWoken = true;
    while (!stop.aborted) {
      const places = Math.floor((concurrency - running.size) / perWorkspace);
      lacksPlaces = places === 0;
      try {
        const mayFind: boolean = places > 0 && (wasWoken || (await isDue(now())));
        const more: boolean = mayFind && (await claimAndStart(Math.min(places, MAX_GROUPS_PER_CLAIM), stop));
        if (mayFind) await pause(CLAIM_PAUSE_MS, stop);
        wasWoken = more || (await wakeUp.wait(POLL_MS, stop));
      } catch (error) {
        onError(error);
        wasWoken = await wakeUp.wait(RETRY_WAIT_MS, stop);
      }
    }
    await Promise.all(working);
    await results[Symbol.asyncDispose]();
    await unconfirmed.undo().catch(onError);
  }

  /** Renews before it looks for expired leases, so that after a pause a process does not interrupt its own runs. */
  async function keepLeases(): Promise<void> {
    const at = now().getTime();
    if (at - renewedAt >= RENEW_AFTER_MS) {
      if (running.size > 0) await leases.renew([...running], new Date(at + LEASE_MS));
      renewedAt = at;
    }
    const returned = await unconfirmed.undo();
    const interrupted = await leases.interruptExpired(now());
    if (returned + interrupted > 0) wakeUp.signal();
  }

  return { producers: [serve], consumers: [(stop) => runEvery(SWEEP_EVERY_MS, stop, keepLeases, onError)] };
}
