import type { LatencySummary } from "../statistics.ts";

/** What the webhook's `data` contains: the event's own number, and the monotonic time at which it happened. */
export type Stamp = { n: number; at: number };

/** Where an event goes: the workspace, and a type to which one endpoint of it subscribes. */
export type EventTarget = { workspaceId: string; workspace: string; type: string };

export type PublisherArgument = { natsUrl: string };
export type PublisherOrder =
  | { kind: "targets"; targets: EventTarget[] }
  /** All in one tick. */
  | { kind: "burst"; count: number }
  /** At a steady pace. */
  | { kind: "steady"; perSecond: number; forMs: number };
/** The events have the numbers from `from` to `until - 1`. */
export type Published = { from: number; until: number };

export type ReceiverArgument = { key: string; cert: string };
export type ReceiverOrder =
  | { kind: "count" }
  /** From now on these paths respond late; their requests are not counted. */
  | { kind: "slow"; paths: string[]; respondAfterMs: number }
  | ({ kind: "report" } & Published);
export type ReceiverAnswer = {
  atMs: number;
  /** Different events received so far. */
  received: number;
  /** Events that came again after they had been counted. */
  repeated: number;
  /** Latencies of the events with the requested numbers. */
  latency?: LatencySummary;
};
