import type { Latency } from "../statistics.ts";

/** What the webhook's `data` contains: the event's own number, and the monotonic time at which it happened. */
export type Stamp = { n: number; at: number };

/** Where an event goes: the workspace, and a type to which one endpoint of it subscribes. */
export type EventTarget = { workspaceId: string; workspace: string; type: string };

export type PublisherArgument = { natsUrl: string; firstNumber: number };
/** Events for these targets in turn: all in one tick, or at a steady pace. */
export type PublisherOrder = { targets: EventTarget[] } & ({ burst: number } | { perSecond: number; forMs: number });
/** The events have the numbers from `from` to `until - 1`. */
export type Published = { from: number; until: number };

export type ReceiverArgument = { key: string; cert: string };
/** Without numbers: only how many different events have come. `slow`: from now on this path responds late. */
export type ReceiverOrder = Partial<Published> & { slow?: { path: string; afterMs: number } };
export type ReceiverAnswer = {
  atMs: number;
  received: number;
  /** Of the events with the requested numbers. */
  latency: Latency;
};
