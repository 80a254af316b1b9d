import type { Bus } from "@toolgate/event-bus/connect";

const WAKE_SUBJECT = "dispatch.wake";

/** Tells a dispatcher, anywhere, that there is due work. Not stored: polling finds what a lost word concerned. */
export function announceWork(bus: Bus): void {
  bus.nc.publish(WAKE_SUBJECT);
}

/** Calls back at each announcement; one of all listeners of the installation hears it. */
export function onWork(bus: Bus, callback: () => void): Disposable {
  const subscription = bus.nc.subscribe(WAKE_SUBJECT, { queue: "dispatchers", callback });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

/** A doorbell for one loop: rings while it is busy are one ring. */
export interface Doorbell {
  ring(): void;
  /** Resolves at a ring since the last wait, after `maxWaitMs`, or when the signal fires. */
  wait(maxWaitMs: number, signal: AbortSignal): Promise<void>;
}

export function createDoorbell(): Doorbell {
  let rung = false;
  let answer: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      answer?.();
    },
    async wait(maxWaitMs, signal) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(done, maxWaitMs);
          signal.addEventListener("abort", done, { once: true });
          answer = done;
          function done() {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
          }
        });
      }
      answer = undefined;
      rung = false;
    },
  };
}
