import { createHash } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import {
  type CallRow,
  claimCall,
  type EndedCall,
  type IdempotentCall,
  releaseCall,
  storeOutcome,
} from "../store/idempotent-calls.ts";
import { NotStarted } from "./errors.ts";
import { createRepeats } from "./repeats.ts";

/** How a call that reached its run ended. */
type RanOutcome =
  /** `error` is empty when it is replayed. */
  | { kind: "failed"; executionId: string; durationMs: number; error: string }
  | { kind: "ok"; executionId: string; durationMs: number; resultJson: string };

/**
 * What a call with an idempotency key gets: an outcome, from its own run or from the first call's, or the reason why
 * there is none.
 */
export type OnceOutcome =
  | (RanOutcome & { replayed: boolean })
  /** The key was used with another body. */
  | { kind: "mismatch" }
  /** The first call has not ended. */
  | { kind: "in-progress" }
  /** The first call may have had effects, but its result was lost or never stored. */
  | { kind: "unknown" };

/** A run that has ended; `durable` resolves once its log record and its event cannot be lost. */
export interface EndedRun {
  outcome: RanOutcome;
  durable: Promise<unknown>;
}

/**
 * Runs a call once for its idempotency key, across all replicas and for 24 hours. The claim is committed before the run
 * starts and the outcome before it is returned, so a run is never silently repeated. A run that a platform failure cut
 * off may have had effects, so its repeats get "unknown": immediately if its process noticed the failure, or after the
 * lease if the process died.
 */
export interface Idempotency {
  once(call: OnceCall, run: () => Promise<EndedRun>): Promise<OnceOutcome>;
}

interface OnceCall {
  idempotentCall: IdempotentCall;
  workspaceId: string;
  body: Uint8Array;
  /** The tool's timeout: bounds the run, and how long a repeat waits for it. */
  timeoutMs: number;
  /** Read only when the call has to wait; fires when the caller has disconnected. */
  signal: () => AbortSignal;
}

interface IdempotencyDependencies {
  pool: Pool;
  secretBox: SecretBox;
  now: () => number;
  /** Bytes of results that the calls of one API key may store in an hour; calls beyond it run once but cannot be replayed. */
  maxBytesPerHour?: number;
}

const KEPT_MS = 24 * 3_600_000;
/** Added to the tool's timeout: time for the log record to be acknowledged, even while the broker restarts. */
const LEASE_MARGIN_MS = 30_000;
const MAX_STORED_BYTES_PER_HOUR = 128 * 1024 * 1024;

export function createIdempotency(deps: IdempotencyDependencies): Idempotency {
  const { pool, secretBox, now, maxBytesPerHour = MAX_STORED_BYTES_PER_HOUR } = deps;
  const repeats = createRepeats();

  const ended = (outcome: RanOutcome, idempotentCall: IdempotentCall): EndedCall => {
    const { kind: state, executionId, durationMs } = outcome;
    const sealedResult = outcome.kind === "ok" ? secretBox.seal(outcome.resultJson, contextOf(idempotentCall)) : null;
    return { state, executionId, durationMs, sealedResult, maxBytesPerHour };
  };

  async function runClaimed(
    idempotentCall: IdempotentCall,
    claimedAt: Date,
    run: () => Promise<EndedRun>,
  ): Promise<OnceOutcome> {
    let stored: boolean;
    let outcome: RanOutcome;
    try {
      const ran = await run();
      outcome = ran.outcome;
      await ran.durable;
      stored = await storeOutcome(pool, idempotentCall, claimedAt, ended(outcome, idempotentCall));
    } catch (error) {
      const closing =
        error instanceof NotStarted
          ? releaseCall(pool, idempotentCall, claimedAt)
          : storeOutcome(pool, idempotentCall, claimedAt, { ...INTERRUPTED, maxBytesPerHour });
      // If Postgres cannot store this, the claim ends with its lease.
      await closing.catch(() => {});
      throw error;
    }
    return stored ? { ...outcome, replayed: false } : { kind: "unknown" };
  }

  function replay(
    idempotentCall: IdempotentCall,
    { state, executionId, durationMs, sealedResult }: CallRow,
  ): OnceOutcome {
    const ran = { executionId, durationMs, replayed: true };
    if (state === "failed") return { kind: "failed", ...ran, error: "" };
    if (state !== "ok" || sealedResult === null) return { kind: "unknown" };
    return { kind: "ok", resultJson: secretBox.open(sealedResult, contextOf(idempotentCall)), ...ran };
  }

  return {
    async once({ idempotentCall, workspaceId, body, timeoutMs, signal }, run) {
      const bodyHash = createHash("sha256").update(body).digest();
      const waitUntil = performance.now() + timeoutMs;

      /** Undefined while another call runs. */
      async function attempt(): Promise<OnceOutcome | undefined> {
        const at = new Date(now());
        const leaseUntil = new Date(at.getTime() + timeoutMs + LEASE_MARGIN_MS);
        const forgetBefore = new Date(at.getTime() - KEPT_MS);
        const claim = await claimCall(pool, idempotentCall, { bodyHash, now: at, leaseUntil, forgetBefore });
        if (claim.claimed) return runClaimed(idempotentCall, at, run);
        if (!claim.row.bodyHash.equals(bodyHash)) return { kind: "mismatch" };
        return claim.row.state === "running" ? undefined : replay(idempotentCall, claim.row);
      }

      const outcome = (await attempt()) ?? (await repeats.wait({ workspaceId, waitUntil, signal: signal() }, attempt));
      return outcome ?? { kind: "in-progress" };
    },
  };
}

const INTERRUPTED = { state: "interrupted", executionId: "", durationMs: 0, sealedResult: null } as const;

/** Binds a sealed result to its call. */
function contextOf({ keyId, tool, idempotencyKey }: IdempotentCall): string {
  return `idempotent-call:${JSON.stringify([keyId, tool, idempotencyKey])}`;
}
