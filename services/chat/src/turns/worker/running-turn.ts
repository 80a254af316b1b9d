import type { CallRecord, Step } from "../../domain/turn.ts";
import type { ModelTool } from "../../models/model.ts";
import type { ClaimedTurn } from "../../store/turns/claim.ts";
import type { LoadedTurn } from "../../store/turns/load.ts";
import type { TurnSize } from "./large-turns.ts";
import type { TurnControl } from "./turn-control.ts";
import type { TurnLog } from "./turn-log.ts";

/** A turn that this worker runs. */
export interface RunningTurn {
  readonly claimed: ClaimedTurn;
  readonly control: TurnControl;
  readonly log: TurnLog;
  readonly size: TurnSize;
  /** The tools that the assistant may call. */
  tools: readonly ModelTool[];
  /** Steps that went on to call tools. */
  readonly steps: Step[];
  /** Calls by id, in the order in which the model asked for them. */
  readonly calls: Map<string, CallRecord>;
  /** The whole answer so far. */
  html: string;
  /** The last model that answered. */
  model: string;
  /** Tokens of the whole turn. */
  inputTokens: number;
  outputTokens: number;
  /** Tokens of the last step, which are not stored yet. */
  uncounted: { inputTokens: number; outputTokens: number };
}

export function createRunningTurn(
  claimed: ClaimedTurn,
  loaded: LoadedTurn,
  parts: Pick<RunningTurn, "control" | "log" | "size">,
): RunningTurn {
  const { steps, calls, html, model, inputTokens, outputTokens } = loaded;
  return {
    claimed,
    ...parts,
    tools: [],
    steps: [...steps],
    calls: new Map(calls.map((call) => [call.id, call])),
    html,
    model,
    inputTokens,
    outputTokens,
    uncounted: { inputTokens: 0, outputTokens: 0 },
  };
}
