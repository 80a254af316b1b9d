import { createHash } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import {
  type CallRow,
  claimCall,
  type IdempotentCall,
  INTERRUPTED,
  releaseCall,
  storeOutcome,
} from "../store/idempotent-calls.ts";
import { NotStarted } from "./errors.ts";

/** How a call that reached its run ended, as the response says it; its log record and its event cannot be lost any more. */
export interface RanOutcome {
  executionId: string;
  durationMs: number;
  /** `error` is empty when it is replayed. */
  outcome: { case: "toolFailed"; value: { error: string } } | { case: "resultJson"; value: Uint8Array };
}

/**
 * What a call with an idempotency key gets: an outcome, from its own run or from the first call's, or the reason why
 * there is none.
 */
type OnceOutcome =
  | (RanOutcome & { replayed: boolean })
  | typeof UNKNOWN
  | { outcome: { case: "idempotencyMismatch" | "idempotencyInProgress"; value: object } };

/** The first call may have had effects, but its result was lost or never stored. */
const UNKNOWN = { outcome: { case: "outcomeUnknown", value: {} }, replayed: true } as const;

interface OnceCall {
  idempotentCall: IdempotentCall;
  body: Uint8Array;
  /** The tool's timeout. */
  timeoutMs: number;
}

const KEPT_MS = 24 * 3_600_000;
/** Added to the tool's timeout: time for the log record to be acknowledged, even while the broker restarts. */
const LEASE_MARGIN_MS = 30_000;

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * Runs a call once for its idempotency key, across all replicas and for 24 hours. The claim is committed before the run
 * starts and the outcome before it is returned, so a run is never silently repeated. A run that a platform failure cut
 * off may have had effects, so its repeats get "unknown": immediately if its process noticed the failure, or after the
 * lease if the process died.
 */
export function createIdempotency(deps: { pool: Pool; secretBox: SecretBox; now: () => number }) {
  const { pool, secretBox, now } = deps;

  async function runClaimed(
    idempotentCall: IdempotentCall,
    claimedAt: Date,
    run: () => Promise<RanOutcome>,
  ): Promise<OnceOutcome> {
    try {
      const ran = await run();
      const { executionId, durationMs, outcome } = ran;
      const state = outcome.case === "resultJson" ? "ok" : "failed";
      const sealedResult = sealed(outcome, idempotentCall);
      const ended = { state, executionId, durationMs, sealedResult } as const;
      const stored = await storeOutcome(pool, idempotentCall, claimedAt, ended);
      return stored ? { ...ran, replayed: false } : UNKNOWN;
    } catch (error) {
      const closing =
        error instanceof NotStarted
          ? releaseCall(pool, idempotentCall, claimedAt)
          : storeOutcome(pool, idempotentCall, claimedAt, INTERRUPTED);
      // If Postgres cannot store this, the claim ends with its lease.
      await closing.catch(() => {});
      throw error;
    }
  }

  function sealed(outcome: RanOutcome["outcome"], call: IdempotentCall): Buffer | null {
    if (outcome.case !== "resultJson") return null;
    return secretBox.seal(Buffer.from(outcome.value).toString(), contextOf(call));
  }

  function replay(call: IdempotentCall, { state, executionId, durationMs, sealedResult }: CallRow): OnceOutcome {
    const ran = { executionId, durationMs, replayed: true };
    if (state === "failed") return { ...ran, outcome: { case: "toolFailed", value: { error: "" } } };
    if (state !== "ok" || sealedResult === null) return UNKNOWN;
    const value = Buffer.from(secretBox.open(sealedResult, contextOf(call)));
    return { ...ran, outcome: { case: "resultJson", value } };
  }

  return {
    async once({ idempotentCall, body, timeoutMs }: OnceCall, run: () => Promise<RanOutcome>): Promise<OnceOutcome> {
      const bodyHash = createHash("sha256").update(body).digest();
      const at = new Date(now());
      const leaseUntil = new Date(at.getTime() + timeoutMs + LEASE_MARGIN_MS);
      const forgetBefore = new Date(at.getTime() - KEPT_MS);
      const claim = await claimCall(pool, idempotentCall, { bodyHash, now: at, leaseUntil, forgetBefore });
      if (claim.claimed) return runClaimed(idempotentCall, at, run);
      if (!claim.row.bodyHash.equals(bodyHash)) return { outcome: { case: "idempotencyMismatch", value: {} } };
      if (claim.row.state === "running") return { outcome: { case: "idempotencyInProgress", value: {} } };
      return replay(idempotentCall, claim.row);
    },
  };
}

/** Binds a sealed result to its call. */
function contextOf({ keyId, tool, idempotencyKey }: IdempotentCall): string {
  return `idempotent-call:${JSON.stringify([keyId, tool, idempotencyKey])}`;
}
