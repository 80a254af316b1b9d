import type { ClaimedRun } from "../store/runs/claim.ts";

/** What a target is started with. */
export interface TargetInput {
  deliveryId: string;
  /** When the call was received. */
  createdAt: Date;
  workspaceId: string;
  run: ClaimedRun;
  /** The mapped arguments, a JSON object. */
  argsJson: string;
  /** The arguments come from a form, so all of them are strings. */
  isForm: boolean;
}

/** How a target's run ended, as the log stores it. */
export type RunEnd =
  | { outcome: "succeeded"; result: string; durationMs: number; executionId: string }
  | { outcome: "failed"; error: string; durationMs: number; executionId: string }
  /** It can be started again without running twice. */
  | { outcome: "not-started"; reason: string };

/**
 * Runs a tool or an assistant for a hook. A failure of the target is a result, not a rejection. When `stop` fires, the
 * run of a target that continues without this process may end as not started.
 */
export type RunTarget = (input: TargetInput, stop: AbortSignal) => Promise<RunEnd>;

export function failed(error: string, ran = { durationMs: 0, executionId: "" }): RunEnd {
  return { outcome: "failed", error, ...ran };
}
