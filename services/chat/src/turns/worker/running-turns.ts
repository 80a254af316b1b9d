import type { Pool } from "@toolgate/postgres/pool";
import { pause } from "@toolgate/service-host/every";
import { turnsRunning, turnTakeovers } from "@toolgate/telemetry/instruments";
import { runForRequest } from "@toolgate/telemetry/request";
import { inSpan, spanOf } from "@toolgate/telemetry/trace";
import { LANES, type Lane } from "../../store/queue.ts";
import type { ClaimedTurn } from "../../store/turns/claim.ts";
import { LEASE_MS, renewLeases } from "../../store/turns/leases.ts";
import { createTurnControl, type TurnControl } from "./turn-control.ts";

interface Running {
  claimed: ClaimedTurn;
  control: TurnControl;
  done: Promise<void>;
  renewedAtMs: number;
}

interface RunningTurnsOptions {
  run: (turn: ClaimedTurn, control: TurnControl) => Promise<void>;
  /** Called with a turn that this worker no longer runs, and whether another worker is to continue it. */
  onEnd: (turn: ClaimedTurn, handOver: boolean) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Turns may still finish within this time once the process is told to stop. Another worker continues the others. */
const DRAIN_MS = 5_000;

export type RunningTurns = ReturnType<typeof createRunningTurns>;

/** The turns that this process runs. */
export function createRunningTurns({ run, onEnd, onError }: RunningTurnsOptions) {
  const running = new Map<string, Running>();
  const ofLane = (lane: Lane) => [...running.values()].filter(({ claimed }) => claimed.lane === lane);
  const gauge = turnsRunning.observe(() => LANES.map((lane) => [ofLane(lane).length, { lane }] as const));

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

  async function untilIdle(lane: Lane): Promise<void> {
    for (let turns = ofLane(lane); turns.length > 0; turns = ofLane(lane))
      await Promise.all(turns.map(({ done }) => done));
  }

  return {
    count: (lane: Lane): number => ofLane(lane).length,
    start(claimed: ClaimedTurn): void {
      if (claimed.takenOver) turnTakeovers.add(1, { lane: claimed.lane });
      // A turn that this process has lost and gets again must not continue under the old claim.
      running.get(claimed.id)?.control.leave("lost");
      const control = createTurnControl();
      const done = runToEnd(claimed, control);
      running.set(claimed.id, { claimed, control, done, renewedAtMs: performance.now() });
    },
    stop: (turn: string): void => running.get(turn)?.control.leave("stop"),
    /**
     * Renews the leases of all turns. Leaves those that another worker has, and each that could not be renewed for as long as
     * a lease lasts.
     */
    async renew(pool: Pool, now: Date): Promise<void> {
      const turns = [...running.values()];
      if (turns.length === 0) return;
      const startedAtMs = performance.now();
      try {
        const rows = await renewLeases(
          pool,
          turns.map(({ claimed }) => claimed),
          now,
        );
        const held = new Map(rows.map((row) => [row.id, row]));
        for (const turn of turns) {
          const row = held.get(turn.claimed.id);
          if (row) turn.renewedAtMs = startedAtMs;
          // A turn that has just ended is not held either; leaving it then changes nothing.
          if (!row) turn.control.leave("lost");
          else if (row.stopRequested) turn.control.leave("stop");
        }
      } catch (error) {
        for (const { control, renewedAtMs } of turns)
          if (performance.now() - renewedAtMs > LEASE_MS) control.leave("lost");
        throw error;
      }
    },
    /** Lets a lane's turns finish for a few seconds, then hands over the rest. */
    async drain(lane: Lane): Promise<void> {
      const finished = new AbortController();
      const idle = untilIdle(lane).then(() => finished.abort());
      await pause(DRAIN_MS, finished.signal);
      for (const { control } of ofLane(lane)) control.handOver();
      await idle;
    },
    [Symbol.dispose]: () => gauge[Symbol.dispose](),
  };
}
