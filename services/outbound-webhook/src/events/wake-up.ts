import type { Bus } from "@toolgate/event-bus/connect";

const SUBJECT = "dispatch.wake";

/**
 * Tells one dispatcher of the installation that there is due work. The message is not stored: polling replaces a lost
 * one.
 */
export function announceWork(bus: Bus): void {
  bus.nc.publish(SUBJECT);
}

/** Calls back on each wake-up; each goes to one dispatcher of the installation. */
export function onWork(bus: Bus, callback: () => void): Disposable {
  const subscription = bus.nc.subscribe(SUBJECT, { queue: "dispatchers", callback });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

/** Wakes one loop. Signals while it is busy count as one. */
export interface WakeUp {
  signal(): void;
  /** Resolves when there was a signal since the last wait, after `maxWaitMs`, or when `stop` fires. */
  wait(maxWaitMs: number, stop: AbortSignal): Promise<void>;
}

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
      signalled = false;
    },
  };
}
