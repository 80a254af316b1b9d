import type { Bus } from "@toolgate/event-bus/connect";
import type { Pool } from "@toolgate/postgres/pool";
import { requestStop } from "../store/turns/stop.ts";
import { STOP_SUBJECT } from "./subjects.ts";
import { untilEnded } from "./until-ended.ts";

const STOPPED_WITHIN_MS = 10_000;

/** Stops the turn of a chat, and resolves once it has ended, at the latest after 10 s. False: no turn was running. */
export async function stopTurn({ pool, bus }: { pool: Pool; bus: Bus }, chat: number): Promise<boolean> {
  const requested = await requestStop(pool, chat);
  if (!requested) return false;
  announceStop(bus, requested.turn);
  await untilEnded({ pool, bus }, { id: requested.turn, chat }, AbortSignal.timeout(STOPPED_WITHIN_MS));
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
