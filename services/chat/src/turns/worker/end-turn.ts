import { setTimeout as sleep } from "node:timers/promises";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Pool } from "@toolgate/postgres/pool";
import { modelTokens, turnsEnded } from "@toolgate/telemetry/instruments";
import { chatEvent, doneEvent, errorEvent, storedEvent, suggestionsEvent } from "../../domain/chat-event.ts";
import type { Ending } from "../../domain/turn.ts";
import type { TurnQueues } from "../../store/queue.ts";
import { endTurn, type TurnEnd } from "../../store/turns/end.ts";
import type { InQueue } from "../queue-slots.ts";
import type { Signals } from "../signals.ts";
import type { RunningTurn } from "./running-turn.ts";

interface EndDependencies {
  queuePool: Pool;
  queues: TurnQueues;
  inQueue: InQueue;
  signals: Signals;
  now: () => Date;
  onError: (error: unknown) => void;
}

const RETRY_MS = 250;

/**
 * Ends a turn: its last events, its answer in the history, and the chat's next turn, in one transaction. Does nothing when
 * this worker no longer holds it. A turn whose data cannot be stored is lost, and ends when every worker has lost it.
 */
export async function endRunningTurn(
  { queuePool, queues, inQueue, signals, now, onError }: EndDependencies,
  turn: RunningTurn,
  ending: Ending,
): Promise<void> {
  const { claimed, log, control } = turn;
  const { workspaceId, lane } = claimed;
  await log.settled();
  const end = endOf(turn, ending, lastEvents(turn, ending, now()));
  // After a failure of the database it is not known whether the turn was ended, so it is ended again.
  while (control.left !== "lost") {
    try {
      const ended = await inQueue(workspaceId, () => endTurn(queuePool, queues[lane], end, now()));
      if (!ended) return control.leave("lost");
      const events = end.events.map((event, index) => chatEvent(end.before + 1 + index, event));
      signals.publish(claimed, claimed.id, events);
      measure(turn, ending);
      const { next } = ended;
      if (!next) return;
      signals.publish(claimed, next.id, [chatEvent(next.eventId, next.event)]);
      return signals.announceTurns(lane);
    } catch (error) {
      onError(error);
      if (isDataError(error)) control.leave("lost");
      else await sleep(RETRY_MS);
    }
  }
}

function endOf({ claimed, log, html, model, uncounted }: RunningTurn, ending: Ending, events: Uint8Array[]): TurnEnd {
  const { lastEventId: before, firstAnswerId: eventId } = log;
  return {
    ...ending,
    turn: claimed,
    before,
    events,
    ...(eventId > 0 && { answer: { eventId, html } }),
    model,
    ...uncounted,
  };
}

function lastEvents(turn: RunningTurn, ending: Ending, now: Date): Uint8Array[] {
  const { claimed, model, inputTokens, outputTokens } = turn;
  const { status, error } = ending;
  const { suggestions = [] } = claimed.definition ?? {};
  const calls = [...turn.calls.values()];
  const receipt = {
    model,
    inputTokens,
    outputTokens,
    durationMs: Math.max(0, now.getTime() - claimed.startedAt.getTime()),
    tools: calls.map(({ tool, status, durationMs }) => ({ tool, success: status === "succeeded", durationMs })),
    suppressed: [...new Set(calls.flatMap((call) => call.suppressed))],
    stopped: status === "stopped",
  };
  const hasSuggestions = status === "completed" && claimed.lane === "chat" && suggestions.length > 0;
  return [
    ...(hasSuggestions ? [suggestionsEvent(suggestions)] : []),
    ...(error ? [errorEvent(error)] : []),
    doneEvent(receipt),
  ].map(storedEvent);
}

function measure({ claimed, inputTokens, outputTokens }: RunningTurn, { status, error }: Ending): void {
  turnsEnded.add(1, { lane: claimed.lane, outcome: error?.code ?? status });
  modelTokens.add(inputTokens, { kind: "input" });
  modelTokens.add(outputTokens, { kind: "output" });
}
