/**
 * Carries out a host call. `argsJson` is a JSON array of the arguments; the result is JSON. A rejection becomes an
 * Error in the tool with the same `message`, `name` and `code`. The signal aborts when the run ends.
 */
export type HostCall = (name: string, argsJson: string, signal: AbortSignal) => Promise<string>;

export type SandboxLog = { warn: (fields: Record<string, unknown>, message: string) => void };

export type SandboxRequest = {
  /** In whose process it runs. */
  workspaceId: string;
  /** Names the code (workspace, tool and version): runs with the same key share an isolate. */
  codeKey: string;
  /** From `compileHandler`. */
  code: string;
  argsJson: string;
  context: { readOnly: boolean; testMode: boolean };
  limits: { wallMs: number; cpuMs: number; resultBytes: number };
  onHostCall: HostCall;
  signal?: AbortSignal;
};

/**
 * Why a run was ended without a result. `interrupted` is a failure of the sandbox, and the run may have had effects;
 * an `overloaded` run was never begun, and neither was an `unavailable` one, for which no process could be started.
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
  | "overloaded"
  | "unavailable";

export type SandboxOutcome =
  | { kind: "ok"; resultJson: string; cpuMs: number; logs: string[] }
  | { kind: "threw"; message: string; stack?: string; cpuMs: number; logs: string[] }
  | { kind: SandboxStop; message: string; cpuMs: number; logs: string[] };
