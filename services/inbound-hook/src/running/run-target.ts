import type { JsonObject } from "../domain/mapping.ts";
import type { ClaimedRun } from "../store/runs/claim.ts";

/** What a target is started with. */
export interface TargetInput {
  deliveryId: string;
  /** When the call was received. */
  createdAt: Date;
  workspaceId: string;
  run: ClaimedRun;
  /** The mapped arguments. */
  args: JsonObject;
  /** The arguments come from a form, so all of them are texts. */
  isForm: boolean;
  /** Fires when this process is to end. */
  stop: AbortSignal;
}

/** How a start of a target ended; texts as the log keeps them. */
export type RunEnd =
  | { outcome: "succeeded"; result: string; durationMs: number; executionId: string }
  | { outcome: "failed"; error: string; durationMs: number; executionId: string }
  /** It can be started again without running twice. */
  | { outcome: "not-started"; reason: string };

/** Runs a tool or an assistant for a hook. A failure of the target is a result, not a rejection. */
export type RunTarget = (input: TargetInput) => Promise<RunEnd>;

export function failed(error: string, ran = { durationMs: 0, executionId: "" }): RunEnd {
  return { outcome: "failed", error, ...ran };
}
