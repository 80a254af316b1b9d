import type { PoolLimits } from "../limits.ts";

/**
 * What the pool and a child send each other: JSON arrays, many in one frame. A *step* makes the child enter an isolate:
 * the start of a run, or the result of one of its host calls. Steps are numbered for each child, and a run is known to
 * its child by the number of its first step, its *ticket*.
 */
export type ToChild =
  /** The workspace is missing from a pool of an earlier version. */
  | ["define", codeId: number, code: string, workspaceId?: string]
  | ["forget", codeId: number]
  | StartMessage
  /** The next part of a long result; its last part is the `resolve`. */
  | ["part", ticket: number, callId: number, json: string]
  | ResultMessage
  | ["cancel", ticket: number];

export type StartMessage = [
  "start",
  ticket: number,
  codeId: number,
  argsJson: string,
  readOnly: boolean,
  testMode: boolean,
  cpuMs: number,
  resultBytes: number,
  /** How often it was begun before. Missing from a pool of an earlier version. */
  timesLost?: number,
];

export type ResultMessage =
  | ["resolve", step: number, ticket: number, callId: number, json: string]
  | ["reject", step: number, ticket: number, callId: number, message: string, name: string, code: string];

/** The same for all runs in a pool; a child gets it as its argument. */
export type GuestSettings = { functions: readonly string[] } & Pick<
  PoolLimits,
  "hostCallsPerRun" | "concurrentHostCallsPerRun" | "hostCallBytes" | "logLinesPerRun"
>;

export type FailureKind = "threw" | "cpu" | "memory" | "result-too-large" | "unserializable" | "too-many-host-calls";

export type FromChild =
  | ["ok", ticket: number, resultJson: string, cpuMs: number]
  | ["fail", ticket: number, kind: FailureKind, message: string, stack: string, cpuMs: number]
  | ["call", ticket: number, callId: number, name: string, argsJson: string]
  | ["log", ticket: number, line: string]
  /** A step has used this much CPU time; not sent for short steps. */
  | ["used", ticket: number, cpuMs: number]
  /** Not begun, because the pool has taken it back. */
  | ["skipped", ticket: number]
  /** Not begun, because every isolate is in use. */
  | ["full", ticket: number]
  /** Ended without an outcome: cancelled, or its isolate ended for a reason that is not the run's. */
  | ["lost", ticket: number];

/** `done` is the last step whose messages are all in this frame or earlier ones. */
export type ChildFrame = {
  done: number;
  messages: FromChild[];
  /** In its first frame: it knows the message `part`. A sandbox process of an earlier version starts children that do not. */
  takesParts?: boolean;
};

/** The name of a tool's source in stack traces. */
export const SOURCE_NAME = "tool.js";
/** Tool code is a factory, with this head on the first line of its source so that line numbers stay as written. */
export const FACTORY_HEAD = '(function(console){return(function(){"use strict";';
export const FACTORY_TAIL = "})();})";
