import type { WakeUpSubject } from "@toolgate/event-bus/wake-up";

/** Wakes one dispatcher of the installation. */
export const DISPATCH: WakeUpSubject = { subject: "dispatch.wake", queue: "dispatchers" };
