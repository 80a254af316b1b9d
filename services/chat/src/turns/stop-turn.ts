import type { Bus } from "@toolgate/event-bus/connect";
import { createWakeUp } from "@toolgate/event-bus/wake-up";
import type { Pool } from "@toolgate/postgres/pool";
import { hasEnded } from "../domain/turn.ts";
import { findTurn } from "../store/turns/find.ts";
import { requestStop } from "../store/turns/stop.ts";
import { followEvents } from "./live-events.ts";
import { STOP_SUBJECT } from "./subjects.ts";

const STOPPED_WITHIN_MS = 10_000;
const POLL_MS = 250;

/** Stops the turn of a chat, and resolves once it has ended, at the latest after 10 s. False: no turn was running. */
export async function stopTurn({ pool, bus }: { pool: Pool; bus: Bus }, chat: number): Promise<boolean> {
  const wakeUp = createWakeUp();
  using _following = followEvents(bus, chat, () => wakeUp.signal());
  const requested = await requestStop(pool, chat);
  if (!requested) return false;
  announceStop(bus, requested.turn);
  const deadline = AbortSignal.timeout(STOPPED_WITHIN_MS);
  while (!deadline.aborted) {
    const turn = await findTurn(pool, requested.turn);
    if (!turn || hasEnded(turn.status)) break;
    await wakeUp.wait(POLL_MS, deadline);
  }
  return true;
}

/** Tells the worker of a turn, whichever it is, to cancel it. A lost notice is made up for when it renews its lease. */
export function announceStop(bus: Bus, turn: string): void {
  if (bus.isConnected()) bus.nc.publish(STOP_SUBJECT, turn);
}

/** Calls back with the turns that are to be cancelled, until disposed. */
export function onStop(bus: Bus, callback: (turn: string) => void): Disposable {
  const subscription = bus.nc.subscribe(STOP_SUBJECT, {
    callback: (error, message) => {
      if (!error) callback(message.string());
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
