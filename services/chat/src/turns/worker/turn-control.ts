/** Why a worker leaves a turn before its end. */
type LeaveReason =
  /** The user stopped it, or the chat was reset. */
  | "stop"
  /** Another worker has it, or may have it soon. */
  | "lost"
  /** This process stops; another worker continues the turn. */
  | "hand-over";

/** The turn's work was cut. */
export class TurnLeft extends Error {
  constructor(reason: LeaveReason) {
    super(`the worker left the turn: ${reason}`);
    this.name = "TurnLeft";
  }
}

export type TurnControl = ReturnType<typeof createTurnControl>;

/** How a running turn is told to end early. */
export function createTurnControl() {
  const controller = new AbortController();
  let left: LeaveReason | undefined;
  let handingOver = false;
  let toolsRun = false;
  function abort(reason: LeaveReason): void {
    // A lost turn must not be written to, whatever else was asked before.
    if (left === undefined || reason === "lost") left = reason;
    controller.abort(new TurnLeft(left));
  }
  return {
    /** Fires with a TurnLeft when the turn's work must be cut now. */
    signal: controller.signal,
    /** The first reason that was given for cutting the work. */
    get left(): LeaveReason | undefined {
      return left;
    },
    leave: (reason: "stop" | "lost"): void => abort(reason),
    /** Hands the turn over as soon as no tool is running, because the outcome of a tool that is cut would not be known. */
    handOver(): void {
      handingOver = true;
      if (!toolsRun) abort("hand-over");
    },
    /** Runs tools; a hand-over waits for them. */
    async whileToolsRun<T>(work: () => Promise<T>): Promise<T> {
      toolsRun = true;
      try {
        return await work();
      } finally {
        toolsRun = false;
        if (handingOver) abort("hand-over");
      }
    },
  };
}
