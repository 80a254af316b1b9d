import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { ChatEventSchema, TurnReceiptSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Pool } from "@toolgate/postgres/pool";
import { modelTokens, turnsEnded } from "@toolgate/telemetry/instruments";
import { chatEvent, doneEvent, errorEvent, storedEvent, suggestionsEvent } from "../../domain/chat-event.ts";
import { receiptOf } from "../../domain/receipt.ts";
import { type Ending, type EventBody, INTERNAL } from "../../domain/turn.ts";
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
 * this worker no longer holds it. A turn whose data cannot be stored ends as INTERNAL.
 */
export async function endRunningTurn(
  { queuePool, queues, inQueue, signals, now, onError }: EndDependencies,
  turn: RunningTurn,
  ending: Ending,
  suggestions: readonly string[],
): Promise<void> {
  const { claimed, log, control } = turn;
  await log.settled();
  const before = log.lastEventId;
  let prepared = prepare(turn, ending, suggestions, now());
  // After a failure of the database it is not known whether the turn was ended, so it is ended again.
  for (;;) {
    if (control.left === "lost") return;
    try {
      prepared ??= prepareInternal(turn);
      const { end, bodies } = prepared;
      const { workspaceId, lane } = claimed;
      const ended = await inQueue(workspaceId, () => endTurn(queuePool, queues[lane], end, now()));
      if (!ended) return control.leave("lost");
      const events = bodies.map((event, index) => create(ChatEventSchema, { id: BigInt(before + 1 + index), event }));
      signals.publish(claimed, claimed.id, events);
      measure(turn, end);
      const { next } = ended;
      if (!next) return;
      signals.publish(claimed, next.id, [chatEvent(next.eventId, next.event)]);
      return signals.announceTurns(lane);
    } catch (error) {
      onError(error);
      if (!isDataError(error)) await sleep(RETRY_MS);
      else if (prepared?.internal) return control.leave("lost");
      else prepared = undefined;
    }
  }
}

interface PreparedEnd {
  end: TurnEnd;
  bodies: EventBody[];
  /** Ends the turn without anything that it produced. */
  internal: boolean;
}

/** Undefined when the values cannot be encoded. */
function prepare(
  turn: RunningTurn,
  ending: Ending,
  suggestions: readonly string[],
  now: Date,
): PreparedEnd | undefined {
  const { log, html, model, uncounted } = turn;
  try {
    const bodies = lastEvents(turn, ending, suggestions, now);
    const answer = log.firstAnswerId > 0 ? { answer: { eventId: log.firstAnswerId, html } } : {};
    return { end: { ...endOf(turn, ending, bodies), ...answer, model, ...uncounted }, bodies, internal: false };
  } catch {
    return undefined;
  }
}

function prepareInternal(turn: RunningTurn): PreparedEnd {
  const bodies = [doneEvent(create(TurnReceiptSchema))];
  if (INTERNAL.error) bodies.unshift(errorEvent(INTERNAL.error));
  return { end: endOf(turn, INTERNAL, bodies), bodies, internal: true };
}

function endOf({ claimed, log }: RunningTurn, ending: Ending, bodies: readonly EventBody[]): TurnEnd {
  const events = bodies.map(storedEvent);
  return { ...ending, turn: claimed, before: log.lastEventId, events, model: "", inputTokens: 0, outputTokens: 0 };
}

function lastEvents(turn: RunningTurn, ending: Ending, suggestions: readonly string[], now: Date): EventBody[] {
  const { claimed, model, inputTokens, outputTokens, calls } = turn;
  const { status, error } = ending;
  const durationMs = now.getTime() - claimed.startedAt.getTime();
  const stopped = status === "stopped";
  const receipt = receiptOf({ model, inputTokens, outputTokens, durationMs, calls: calls.values(), stopped });
  const bodies: EventBody[] = [];
  if (status === "completed" && claimed.lane === "chat" && suggestions.length > 0)
    bodies.push(suggestionsEvent([...suggestions]));
  if (error) bodies.push(errorEvent(error));
  bodies.push(doneEvent(receipt));
  return bodies;
}

function measure({ claimed, inputTokens, outputTokens }: RunningTurn, { status, error }: TurnEnd): void {
  turnsEnded.add(1, { lane: claimed.lane, outcome: error?.code ?? status });
  modelTokens.add(inputTokens, { kind: "input" });
  modelTokens.add(outputTokens, { kind: "output" });
}
