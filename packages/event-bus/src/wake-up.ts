import type { Bus } from "./connect.ts";

/** A NATS subject of signals that there is due work, and who gets each of them. */
export interface WakeUpSubject {
  subject: string;
  /** Each signal goes to one subscriber of this name. Undefined: to every subscriber. */
  queue?: string;
}

/**
 * Signals that there is due work: the calls of one tick send one message. It is not stored, and not sent
 * while the broker cannot be reached: polling makes up for a lost one.
 */
export function createAnnouncer(bus: Pick<Bus, "nc" | "isConnected">, { subject }: WakeUpSubject): () => void {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      // The client would keep messages in memory until it is connected again.
      if (bus.isConnected() && !bus.nc.isDraining()) bus.nc.publish(subject);
    });
  };
}

/** Calls back on each signal, until disposed. */
export function onWork(bus: Pick<Bus, "nc">, { subject, queue }: WakeUpSubject, callback: () => void): Disposable {
  const subscription = bus.nc.subscribe(subject, { callback, ...(queue && { queue }) });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

/** Wakes one loop. Signals while it is busy count as one. */
export interface WakeUp {
  signal(): void;
  /**
   * Resolves when there was a signal since the last wait, after `maxWaitMs`, or when `stop` fires, with whether there was a
   * signal.
   */
  wait(maxWaitMs: number, stop: AbortSignal): Promise<boolean>;
}

/** A wake-up without a signal. */
export function createWakeUp(): WakeUp {
  let signalled = false;
  let endWait: (() => void) | undefined;
  return {
    signal() {
      signalled = true;
      endWait?.();
    },
    async wait(maxWaitMs, stop) {
      if (!signalled && !stop.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(done, maxWaitMs);
          stop.addEventListener("abort", done, { once: true });
          endWait = done;
          function done() {
            clearTimeout(timer);
            stop.removeEventListener("abort", done);
            resolve();
          }
        });
      }
      endWait = undefined;
      const wasSignalled = signalled;
      signalled = false;
      return wasSignalled;
    },
  };
}
