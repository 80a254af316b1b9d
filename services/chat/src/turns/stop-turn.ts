import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Bus } from "@toolgate/event-bus/connect";
import { TurnReceiptSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { chatEvent, doneEvent, storedEvent } from "../domain/chat-event.ts";
import type { Lane } from "../store/queue.ts";
import type { StopReady } from "../store/turns/end.ts";
import { type CurrentTurn, findCurrentTurn, requestStop } from "../store/turns/stop.ts";
import type { PublishEvents } from "./live-events.ts";
import { type AnnounceTurns, STOP_SUBJECT } from "./subjects.ts";
import { untilEnded } from "./until-ended.ts";

const STOPPED_WITHIN_MS = 10_000;

interface StopDependencies {
  pool: Pool;
  bus: Bus;
  stopReady: Readonly<Record<Lane, StopReady>>;
  publish: PublishEvents;
  announceTurns: AnnounceTurns;
  now: () => Date;
  onError: (error: unknown) => void;
}

/**
 * Stops the turn of a chat, and resolves once it has ended. False: no turn was running. A turn that has not ended after
 * 10 s is a deadline_exceeded error; it is still stopped, as soon as its worker or another one can.
 */
export async function stopTurn(deps: StopDependencies, chat: number): Promise<boolean> {
  const { pool, bus, onError } = deps;
  const turn = await findCurrentTurn(pool, chat);
  if (!turn) return false;
  if (turn.status === "ready" && (await stopReady(deps, turn))) return true;
  if (!(await requestStop(pool, turn.id))) return false;
  announceStop(bus, turn.id);
  if (await untilEnded({ pool, bus, onError }, turn, turn, AbortSignal.timeout(STOPPED_WITHIN_MS))) return true;
  throw new ConnectError("the turn has not ended yet; it will be stopped", Code.DeadlineExceeded);
}

/** False when a worker has claimed it in the meantime. */
async function stopReady(deps: StopDependencies, turn: CurrentTurn): Promise<boolean> {
  const { publish, now } = deps;
  const done = storedEvent(doneEvent(create(TurnReceiptSchema, { stopped: true })));
  const ended = await deps.stopReady[turn.lane](turn, [done], now());
  if (!ended) return false;
  publish(turn, turn.id, [chatEvent(turn.lastEventId + 1, done)]);
  const { next } = ended;
  if (!next) return true;
  publish(turn, next.id, [chatEvent(next.eventId, next.event)]);
  deps.announceTurns(turn.lane);
  return true;
}

/**
 * Tells whichever worker has the turn to cancel it. If the notice is lost, the worker learns of it at its next renewal.
 */
export function announceStop(bus: Bus, turn: string): void {
  if (bus.isConnected()) bus.nc.publish(STOP_SUBJECT, turn);
}

/** Calls back with each turn to cancel, until disposed. */
export function onStop(bus: Bus, callback: (turn: string) => void): Disposable {
  const subscription = bus.nc.subscribe(STOP_SUBJECT, {
    callback: (error, message) => {
      if (!error) callback(message.string());
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
