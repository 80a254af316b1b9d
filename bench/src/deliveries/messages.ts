import type { LatencySummary } from "../statistics.ts";

/** What the webhook's `data` carries: a number of its own, and the monotonic time at which the event happened. */
export type Stamp = { n: number; at: number };

/** Where an event goes: the workspace, and a type to which one endpoint of it subscribes. */
export type EventTarget = { workspaceId: string; workspace: string; type: string };

export type PublisherArgument = { natsUrl: string };
export type PublisherOrder =
  | { kind: "targets"; targets: EventTarget[] }
  /** All at once. */
  | { kind: "burst"; count: number }
  /** At a steady pace. */
  | { kind: "steady"; perSecond: number; forMs: number };
/** The numbers of the events: from `from`, before `until`. */
export type Published = { from: number; until: number };

export type ReceiverArgument = { key: string; cert: string };
export type ReceiverOrder =
  | { kind: "count" }
  /** From now on requests to these paths get no answer. */
  | { kind: "hang"; paths: string[] }
  /** From now on these paths answer late; their requests are not counted. */
  | { kind: "slow"; paths: string[]; answerAfterMs: number }
  | ({ kind: "report" } & Published);
export type ReceiverAnswer = {
  atMs: number;
  /** Different events received so far. */
  received: number;
  /** Answered and counted before: the same event came again. */
  repeated: number;
  /** Requests left without an answer. */
  hung: number;
  /** Of the requested numbers. */
  latency?: LatencySummary;
};
