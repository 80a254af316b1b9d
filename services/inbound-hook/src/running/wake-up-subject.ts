import type { WakeUpSubject } from "@toolgate/event-bus/wake-up";
import type { Lane } from "../store/queue.ts";

/** Every runner gets each signal: if only one did, it might have no free slot and the signal would be wasted. */
export function wakeUpOf(lane: Lane): WakeUpSubject {
  return { subject: `hook-runs.${lane}` };
}
