/** How many of these a run may use, decided by the caller for each run. */
export type SandboxRunLimits = { wallMs: number; cpuMs: number; resultBytes: number };

export const DEFAULT_RUN_LIMITS: SandboxRunLimits = { wallMs: 30_000, cpuMs: 1_000, resultBytes: 1024 * 1024 };

/**
 * Answers a call from inside the tool. `argsJson` is a JSON array of the positional arguments, the answer is JSON.
 * A rejection becomes a plain Error in the tool that carries `message`, `name` and `code` (strings) and nothing else.
 * The signal ends when the run ends. Answers are made `inTurn`, so that no run has more than its share of them in hand.
 */
export type HostCall = (name: string, argsJson: string, signal: AbortSignal, inTurn?: InTurn) => Promise<string>;

/** Resolves to what `encode` returns; it is not called any more once the run has ended. */
export type InTurn = (encode: () => string) => Promise<string>;

export type SandboxRequest = {
  /** Whose share of the pool the run takes. */
  workspaceId: string;
  /** Workspace, tool and version: equal keys must mean equal code, and they share an isolate. */
  key: string;
  /** What `compileHandler` returned. */
  code: string;
  argsJson: string;
  context: { readOnly: boolean; testMode: boolean };
  limits: SandboxRunLimits;
  onHostCall: HostCall;
  signal?: AbortSignal;
};

/**
 * Why a run has no result through no throw of its own: limits, the caller's signal, or the pool. `interrupted` is the
 * pool's own fault and may have had effects; `overloaded` was never begun.
 */
export type SandboxStop =
  | "timeout"
  | "cpu"
  | "memory"
  | "result-too-large"
  | "unserializable"
  | "too-many-host-calls"
  | "interrupted"
  | "cancelled"
  | "overloaded";

export type SandboxOutcome =
  | { kind: "ok"; resultJson: string; cpuMs: number; logs: string[] }
  | { kind: "threw"; message: string; stack?: string; cpuMs: number; logs: string[] }
  | { kind: SandboxStop; message: string; cpuMs: number; logs: string[] };
