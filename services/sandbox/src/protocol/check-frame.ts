import type { ChildFrame, FailureKind, FromChild } from "./messages.ts";

type Check = (value: unknown) => boolean;

/** More CPU time than any run can use before its child is killed. */
const MAX_CPU_MS = 60_000;
const FAILURE_KINDS: ReadonlySet<unknown> = new Set<FailureKind>([
  "threw",
  "cpu",
  "memory",
  "result-too-large",
  "unserializable",
  "too-many-host-calls",
]);

const isText: Check = (value) => typeof value === "string";
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isCpuMs: Check = (value) => typeof value === "number" && value >= 0 && value <= MAX_CPU_MS;
const isFailureKind: Check = (value) => FAILURE_KINDS.has(value);

/** What follows the name of each message. */
const PARTS: ReadonlyMap<unknown, readonly Check[]> = new Map<FromChild[0], readonly Check[]>([
  ["ok", [isCount, isText, isCpuMs]],
  ["fail", [isCount, isFailureKind, isText, isText, isCpuMs]],
  ["call", [isCount, isCount, isText, isText]],
  ["log", [isCount, isText]],
  ["skipped", [isCount]],
  ["lost", [isCount]],
  ["stuck", [isCount, (kind) => kind === "cpu" || kind === "memory"]],
]);

/**
 * Checks the frame of a child. Code that has broken out of its isolate could send anything, and a number that is none would
 * stay in what the pool knows about a workspace. Throws when it is not a frame.
 */
export function checkFrame(value: unknown): ChildFrame {
  const { done, messages } = (value ?? {}) as Record<string, unknown>;
  if (!isCount(done) || !Array.isArray(messages) || !messages.every(isMessage)) {
    throw new TypeError("A sandbox child sent something that is not a frame");
  }
  return value as ChildFrame;
}

function isMessage(message: unknown): boolean {
  if (!Array.isArray(message)) return false;
  const checks = PARTS.get(message[0]);
  return (
    checks !== undefined &&
    message.length === checks.length + 1 &&
    checks.every((isRight, at) => isRight(message[at + 1]))
  );
}
