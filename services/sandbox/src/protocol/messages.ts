/**
 * What the pool and a child send each other: JSON arrays, many in one frame. A *step* makes the child enter an isolate:
 * the start of a run, or the result of one of its host calls. The child carries steps out one at a time, in the order in
 * which they come. They are numbered for each child, and a run is known to its child by the number of its first step,
 * its *ticket*.
 */
export type ToChild =
  /** The first message. */
  | ["begin", settings: GuestSettings]
  | ["define", codeId: number, code: string]
  | ["forget", codeId: number]
  | StartMessage
  /** The next part of a long result; its last part is the `resolve`. */
  | ["part", ticket: number, callId: number, json: string]
  | ResultMessage
  | ["cancel", ticket: number]
  /** Asks for the starts that it has not begun. */
  | ["give-back"];

export type StartMessage = [
  "start",
  ticket: number,
  codeId: number,
  argsJson: string,
  readOnly: boolean,
  testMode: boolean,
  cpuMs: number,
  resultBytes: number,
];

export type ResultMessage =
  | ["resolve", step: number, ticket: number, callId: number, json: string]
  | ["reject", step: number, ticket: number, callId: number, message: string, name: string, code: string];

/** The same for all runs in a pool. */
export type GuestSettings = {
  functions: readonly string[];
  hostCallsPerRun: number;
  concurrentHostCallsPerRun: number;
  hostCallBytes: number;
  logLinesPerRun: number;
  /** CPU time that a step may use after the child has interrupted it. */
  killGraceMs: number;
  childRssMib: number;
};

export type FailureKind = "threw" | "cpu" | "memory" | "result-too-large" | "unserializable" | "too-many-host-calls";

export type FromChild =
  | ["ok", ticket: number, resultJson: string, cpuMs: number]
  | ["fail", ticket: number, kind: FailureKind, message: string, stack: string, cpuMs: number]
  | ["call", ticket: number, callId: number, name: string, argsJson: string]
  | ["log", ticket: number, line: string]
  /** Not begun. */
  | ["skipped", ticket: number]
  /** Ended without an outcome: cancelled, or its isolate ended for a reason that is not the run's. */
  | ["lost", ticket: number]
  /** Its step cannot be interrupted, or has filled the child's memory: the child must be killed. */
  | ["stuck", ticket: number, kind: "cpu" | "memory"];

/** `done` is the last step whose messages are all in this frame or earlier ones. */
export type ChildFrame = { done: number; messages: FromChild[] };

/** The name of a tool's source in stack traces. */
export const SOURCE_NAME = "tool.js";
/** Tool code is a factory, with this head on the first line of its source so that line numbers stay as written. */
export const FACTORY_HEAD = '(function(console){return(function(){"use strict";';
export const FACTORY_TAIL = "})();})";
