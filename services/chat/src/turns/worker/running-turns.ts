import { turnsRunning, turnTakeovers } from "@toolgate/telemetry/instruments";
import { runForRequest } from "@toolgate/telemetry/request";
import { inSpan, spanOf } from "@toolgate/telemetry/trace";
import type { Lane } from "../../store/queue.ts";
import type { ClaimedTurn } from "../../store/turns/claim.ts";
import { createTurnControl, type TurnControl } from "./turn-control.ts";

/** The turns that this process runs. */
export interface RunningTurns extends Disposable {
  count(lane: Lane): number;
  all(): ClaimedTurn[];
  start(turn: ClaimedTurn): void;
  control(turn: string): TurnControl | undefined;
  /** Resolves when no turn of the lane runs. */
  untilIdle(lane: Lane): Promise<void>;
}

interface Running {
  claimed: ClaimedTurn;
  control: TurnControl;
  done: Promise<void>;
}

export interface RunningTurnsOptions {
  run: (turn: ClaimedTurn, control: TurnControl) => Promise<void>;
  /** Called with a turn that this worker no longer runs, and whether another worker is to continue it. */
  onEnd: (turn: ClaimedTurn, handOver: boolean) => Promise<void>;
  onError: (error: unknown) => void;
}

export function createRunningTurns({ run, onEnd, onError }: RunningTurnsOptions): RunningTurns {
  const running = new Map<string, Running>();
  const ofLane = (lane: Lane) => [...running.values()].filter(({ claimed }) => claimed.lane === lane);
  const gauge = turnsRunning.observe(() =>
    (["chat", "hook"] as const).map((lane) => [ofLane(lane).length, { lane }] as const),
  );

  async function runToEnd(claimed: ClaimedTurn, control: TurnControl): Promise<void> {
    const { requestId, traceparent } = claimed;
    try {
      await runForRequest({ requestId, span: spanOf({ traceparent, tracestate: "" }) }, () =>
        inSpan("turn", () => run(claimed, control)),
      );
    } catch (error) {
      onError(error);
    } finally {
      if (running.get(claimed.id)?.control === control) running.delete(claimed.id);
    }
    await onEnd(claimed, control.left === "hand-over").catch(onError);
  }

  return {
    count: (lane) => ofLane(lane).length,
    all: () => [...running.values()].map(({ claimed }) => claimed),
    start(claimed) {
      if (claimed.takenOver) turnTakeovers.add(1, { lane: claimed.lane });
      // A turn that this process has lost and gets again must not continue under the old claim.
      running.get(claimed.id)?.control.leave("lost");
      const control = createTurnControl();
      running.set(claimed.id, { claimed, control, done: runToEnd(claimed, control) });
    },
    control: (turn) => running.get(turn)?.control,
    async untilIdle(lane) {
      for (;;) {
        const turns = ofLane(lane);
        if (turns.length === 0) return;
        await Promise.all(turns.map(({ done }) => done));
      }
    },
    [Symbol.dispose]: () => gauge[Symbol.dispose](),
  };
}
