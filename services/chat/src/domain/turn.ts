import type { ToolCallExtra } from "../models/model.ts";

export type TurnStatus =
  | "waiting"
  | "ready"
  | "running"
  | "completed"
  | "failed"
  | "stopped"
  | "reset"
  /** It waited too long for the turns before it. */
  | "refused";

const ENDED: ReadonlySet<TurnStatus> = new Set(["completed", "failed", "stopped", "reset", "refused"] as const);

export function hasEnded(status: TurnStatus): boolean {
  return ENDED.has(status);
}

/** `unknown`: the call started, and whether it took effect is not known. */
export type CallStatus = "started" | "succeeded" | "failed" | "unknown";

/** A call of a tool, as the model asked for it. */
export interface StepCall {
  /** Unique in the chat. */
  id: string;
  tool: string;
  /** The model's own JSON text, unchecked. */
  args: string;
  /** What the model's server wants back with it. */
  extra?: ToolCallExtra;
}

/** What became of a call. */
export interface CallRecord extends StepCall {
  step: number;
  status: CallStatus;
  /** What the model is told. */
  result: string;
  durationMs: number;
  /** Tools whose writes test mode suppressed. */
  suppressed: readonly string[];
}

/** One answer of the model that went on to call tools. */
export interface Step {
  /** Counts from 1. */
  number: number;
  /** The part of it that was streamed. */
  html: string;
  calls: readonly StepCall[];
}

/** How a turn ended. */
export interface Ending {
  status: "completed" | "failed" | "stopped";
  error?: { code: ErrorCode; message: string };
}

export type ErrorCode = "TOOL_FAILED" | "MODEL_FAILED" | "BUDGET_EXCEEDED" | "NOT_RELEASED" | "INTERNAL";

export const INTERNAL: Ending = {
  status: "failed",
  error: { code: "INTERNAL", message: "The answer could not be finished. Please try again." },
};

/** [CHAT] A turn that has to wait longer than this for those before it is refused. */
export const MAX_WAIT_MS = 30_000;
/** Turns of one chat that may wait. */
export const MAX_WAITING_TURNS = 20;
/** [CHAT-55] The new message is one of them. */
export const MAX_MESSAGES = 50;
/** A turn whose texts and file have up to this many bytes is small: they are counted nowhere. */
export const SMALL_TURN_BYTES = 64 * 1024;
export const MAX_STEPS = 8;
export const MAX_TOOL_CALLS = 25;
export const MAX_ANSWER_CHARACTERS = 200_000;
/** How often a turn may be taken over before it counts as one that crashes its worker. */
export const MAX_ATTEMPTS = 5;
