import type { AnswerTurns } from "./answer-turns.ts";
import type { SandboxOutcome, SandboxRequest, SandboxStop } from "./outcome.ts";
import type { SandboxChild } from "./sandbox-child.ts";

/** A run between `pool.run` and its outcome. */
export type ActiveRun = {
  readonly request: SandboxRequest;
  readonly deadline: number;
  readonly logs: string[];
  finish: (outcome: SandboxOutcome) => void;
  hostCalls: number;
  hostCallsUnderWay: number;
  readonly answers: AnswerTurns;
  /** How often it was begun by a child that then could not end it. */
  restarts: number;
  settled: boolean;
  child: SandboxChild | undefined;
  ticket: number;
  hostCallsOver: AbortController | undefined;
};

export function stopped(kind: SandboxStop, message: string, run: ActiveRun | undefined, cpuMs = 0): SandboxOutcome {
  return { kind, message, cpuMs, logs: run?.logs ?? [] };
}
