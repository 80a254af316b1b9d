import { createHash } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import {
  type CallRow,
  type CallScope,
  claimCall,
  type EndedCall,
  findEnded,
  releaseCall,
  settleCall,
} from "../store/idempotent-calls.ts";
import { createCallWatch } from "./call-watch.ts";
import { NotStarted } from "./run-scope.ts";

/** How a call that reached its run ended. */
export type RanOutcome =
  | { kind: "failed"; executionId: string; durationMs: number }
  | { kind: "ok"; executionId: string; durationMs: number; resultJson: string };

export type OnceOutcome = (RanOutcome & { replayed: boolean }) | { kind: "mismatch" } | { kind: "in-progress" };

/** A run that has ended; `durable` resolves once its log and its event cannot be lost. */
export interface Ran {
  outcome: RanOutcome;
  durable: Promise<unknown>;
}

/**
 * Runs a call once for its idempotency key, over all replicas and for 24 hours. The claim is committed before the run
 * begins and the outcome before anybody hears of it, so a run is never repeated silently. One that a fault of the
 * platform cut off may have had effects: its repeats are told that the call was made and that its outcome is not known
 * (Aborted), at once where the process knows of the fault, after the lease where the process died.
 */
export interface Idempotency {
  once(call: OnceCall, run: () => Promise<Ran>): Promise<OnceOutcome>;
}

export interface OnceCall {
  scope: CallScope;
  body: Uint8Array;
  /** The tool's own limit: so long may the run take, and so long a twin waits for it. */
  timeoutMs: number;
  /** Read when the call has to wait: it fires when the caller has gone. */
  signal: () => AbortSignal;
}

export interface IdempotencyDependencies {
  pool: Pool;
  secretBox: SecretBox;
  now: () => number;
  /** Of results that the calls of one API key may store in an hour; beyond it calls run once and cannot be replayed. */
  maxBytesPerHour?: number;
}

const KEPT_MS = 24 * 3_600_000;
/** Beyond the tool's own time: for the log's acknowledgement, over a restart of the broker. */
const LEASE_MARGIN_MS = 30_000;
const MAX_STORED_BYTES_PER_HOUR = 128 * 1024 * 1024;

export function createIdempotency(deps: IdempotencyDependencies): Idempotency {
  const { pool, secretBox, now, maxBytesPerHour = MAX_STORED_BYTES_PER_HOUR } = deps;
  const forgetBefore = () => new Date(now() - KEPT_MS);
  const watch = createCallWatch((scopes) =>
    findEnded(pool, scopes, { now: new Date(now()), forgetBefore: forgetBefore() }),
  );

  const ended = (outcome: RanOutcome, scope: CallScope): EndedCall => {
    const { kind: state, executionId, durationMs } = outcome;
    const sealedResult = outcome.kind === "ok" ? secretBox.seal(outcome.resultJson, contextOf(scope)) : null;
    return { state, executionId, durationMs, sealedResult, maxBytesPerHour };
  };

  async function runClaimed(scope: CallScope, claimedAt: Date, run: () => Promise<Ran>): Promise<OnceOutcome> {
    let settled: boolean;
    let outcome: RanOutcome;
    try {
      const ran = await run();
      outcome = ran.outcome;
      await ran.durable;
      settled = await settleCall(pool, scope, claimedAt, ended(outcome, scope));
    } catch (error) {
      const closing =
        error instanceof NotStarted
          ? releaseCall(pool, scope, claimedAt)
          : settleCall(pool, scope, claimedAt, { ...CUT_OFF, maxBytesPerHour });
      // Where Postgres does not take it, the lease ends the claim.
      await closing.catch(() => {});
      throw error;
    }
    if (!settled) throw outcomeUnknown();
    return { ...outcome, replayed: false };
  }

  function replay(scope: CallScope, { state, executionId, durationMs, result, sealedResult }: CallRow): OnceOutcome {
    const ran = { executionId, durationMs, replayed: true };
    if (state === "failed") return { kind: "failed", ...ran };
    const resultJson = sealedResult ? secretBox.open(sealedResult, contextOf(scope)) : result;
    if (state !== "ok" || resultJson === null) throw outcomeUnknown();
    return { kind: "ok", resultJson, ...ran };
  }

  return {
    async once(call, run) {
      const { scope, body, timeoutMs } = call;
      const bodyHash = createHash("sha256").update(body).digest();
      const giveUpAt = performance.now() + timeoutMs;
      for (;;) {
        const at = new Date(now());
        const leaseUntil = new Date(at.getTime() + timeoutMs + LEASE_MARGIN_MS);
        const claim = await claimCall(pool, scope, { bodyHash, now: at, leaseUntil, forgetBefore: forgetBefore() });
        if (claim.claimed) return watch.during(scope, () => runClaimed(scope, at, run));
        if (!claim.row.bodyHash.equals(bodyHash)) return { kind: "mismatch" };
        if (claim.row.state !== "running") return replay(scope, claim.row);
        if (!(await watch.until(scope, giveUpAt, call.signal()))) return { kind: "in-progress" };
      }
    },
  };
}

const CUT_OFF = { state: "interrupted", executionId: "", durationMs: 0, sealedResult: null } as const;

/** What a sealed result belongs to. */
function contextOf({ keyId, tool, idempotencyKey }: CallScope): string {
  return `idempotent-call:${JSON.stringify([keyId, tool, idempotencyKey])}`;
}

function outcomeUnknown(): ConnectError {
  return new ConnectError("the call was made and is not made again; its outcome is not known", Code.Aborted);
}
