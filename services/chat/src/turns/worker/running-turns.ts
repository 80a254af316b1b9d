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
  /** Without those whose claim is still being committed. */
  stored(): ClaimedTurn[];
  /** `stored` never rejects; it settles when the commit of the claim has ended. */
  start(turn: ClaimedTurn, stored?: Promise<void>): void;
  control(turn: string): TurnControl | undefined;
  /** Resolves when no turn of the lane runs. */
  untilIdle(lane: Lane): Promise<void>;
}

interface Running {
  claimed: ClaimedTurn;
  control: TurnControl;
  done: Promise<void>;
  isStored: boolean;
}

export interface RunningTurnsOptions {
  run: (turn: ClaimedTurn, control: TurnControl, stored: Promise<void>) => Promise<void>;
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

  async function runToEnd(claimed: ClaimedTurn, control: TurnControl, stored: Promise<void>): Promise<void> {
    const { requestId, traceparent } = claimed;
    try {
      await runForRequest({ requestId, span: spanOf({ traceparent, tracestate: "" }) }, () =>
        inSpan("turn", () => run(claimed, control, stored)),
      );
    } catch (error) {
      onError(error);
    } finally {
      if (running.get(claimed.id)?.control === control) running.delete(claimed.id);
    }
    await stored;
    await onEnd(claimed, control.left === "hand-over").catch(onError);
  }

  return {
    count: (lane) => ofLane(lane).length,
    all: () => [...running.values()].map(({ claimed }) => claimed),
    stored: () => [...running.values()].flatMap(({ isStored, claimed }) => (isStored ? [claimed] : [])),
    start(claimed, stored) {
      if (claimed.takenOver) turnTakeovers.add(1, { lane: claimed.lane });
      // A turn that this process has lost and gets again must not continue under the old claim.
      running.get(claimed.id)?.control.leave("lost");
      const control = createTurnControl();
      const done = runToEnd(claimed, control, stored ?? Promise.resolve());
      const turn: Running = { claimed, control, done, isStored: !stored };
      running.set(claimed.id, turn);
      void stored?.then(() => {
        turn.isStored = true;
      });
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
