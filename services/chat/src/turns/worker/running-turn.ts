import type { CallRecord } from "../../domain/turn.ts";
import type { ModelTool } from "../../models/model.ts";
import type { ClaimedTurn } from "../../store/turns/claim.ts";
import type { LoadedTurn } from "../../store/turns/load.ts";
import type { TurnSize } from "./large-turns.ts";
import type { TurnControl } from "./turn-control.ts";
import type { TurnLog } from "./turn-log.ts";

/**
 * A turn that this worker runs. `html` is the whole answer so far, `model` the last one that answered; the tokens are those of
 * the whole turn.
 */
export interface RunningTurn extends Pick<LoadedTurn, "steps" | "html" | "model" | "inputTokens" | "outputTokens"> {
  readonly claimed: ClaimedTurn;
  readonly control: TurnControl;
  readonly log: TurnLog;
  readonly size: TurnSize;
  /** The tools that the assistant may call. */
  tools: readonly ModelTool[];
  /** Calls by id, in the order in which the model asked for them. */
  readonly calls: Map<string, CallRecord>;
  /** Tokens of the last step, which are not stored yet. */
  uncounted: { inputTokens: number; outputTokens: number };
}
