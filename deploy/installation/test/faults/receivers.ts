import type { Behave } from "@toolgate/testbed/receiver";
import { eventsOf, type LoadedCall } from "./load.ts";

/** The endpoints by path, and what each subscribes to: one responds immediately, one fails sometimes, one is slow. */
export const ENDPOINTS = {
  "/all": ["tool.completed", "custom.number.seen"],
  "/failing": ["tool.completed"],
  "/slow": ["custom.number.slow"],
} as const;

const MIN_SLOW_MS = 100;
const SLOW_MS_PER_STEP = 30;
const SLOW_STEPS = 16;
/** Delivery ids end in random digits: one in 16 is refused on its first arrival. */
const REFUSED_ENDING = "0";

/** Where the events of a call have to arrive: path and type. */
export function placesOf(call: Pick<LoadedCall, "tool" | "n">): string[] {
  const events = eventsOf(call);
  return Object.entries(ENDPOINTS).flatMap(([path, types]) =>
    events.filter((event) => (types as readonly string[]).includes(event)).map((event) => `${path} ${event}`),
  );
}

interface FaultReceivers {
  behave: Behave;
  /** The requests that got a 500, by their index in the order of arrival. */
  readonly refused: ReadonlySet<number>;
}

export function createFaultReceivers(): FaultReceivers {
  const refused = new Set<number>();
  const refusedOnce = new Set<string>();
  return {
    refused,
    behave({ path, headers }, index) {
      const delivery = String(headers["x-service-delivery"]);
      if (path === "/slow") {
        const step = Number.parseInt(delivery.slice(-2), SLOW_STEPS) % SLOW_STEPS;
        return { delayMs: MIN_SLOW_MS + step * SLOW_MS_PER_STEP };
      }
      if (path !== "/failing" || !delivery.endsWith(REFUSED_ENDING) || refusedOnce.has(delivery)) return {};
      refusedOnce.add(delivery);
      refused.add(index);
      return { status: 500 };
    },
  };
}
