import type { Published } from "../deliveries/messages.ts";
import type { LatencySummary } from "../statistics.ts";

/** Every `emitEvery`th call is of the tool that emits an event. */
export type QuietArgument = { port: number; secret: string; perSecond: number; emitEvery: number };
export type QuietOrder = { forMs: number };
export type QuietAnswer = { latency: LatencySummary; statuses: Record<string, number>; events: Published };

export type NoisyRequest = {
  method: "GET" | "POST";
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** With an Idempotency-Key of its own. */
  once?: boolean;
  /** Made again at once when it was refused. */
  eager?: boolean;
};
export type NoisyOrder = { port: number; requests: NoisyRequest[]; lanes: number; forMs: number };
export type NoisyAnswer = { statuses: Record<string, number> };
