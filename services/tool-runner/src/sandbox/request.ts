/** JSON text. A long one comes in parts, because making and freeing texts of megabytes holds everything else up. */
export type HostResult = string | readonly string[];

/**
 * Carries out a host call. `argsJson` is a JSON array of the arguments; the result is JSON. A rejection becomes an
 * Error in the tool with the same `message`, `name` and `code`. The signal aborts when the run ends. `paced` delays the
 * encoding of a large result while earlier ones wait for the run.
 */
export type HostCall = (name: string, argsJson: string, signal: AbortSignal, paced?: Paced) => Promise<HostResult>;

/** Resolves to what `encode` returns, or to `"null"` without calling it when the run has ended. */
export type Paced = (encode: () => HostResult) => Promise<HostResult>;

export function charactersOf(result: HostResult): number {
  return typeof result === "string" ? result.length : result.reduce((sum, part) => sum + part.length, 0);
}

export type SandboxLog = { warn: (fields: Record<string, unknown>, message: string) => void };

/**
 * What is known about a run's code: `new` if it has not completed a run yet, `apart` if code of its workspace harmed a
 * child within the last day, otherwise `known`.
 */
export type Standing = "known" | "new" | "apart";

export type SandboxRequest = {
  /** Whose share of the pool the run takes. */
  workspaceId: string;
  standing: Standing;
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
 * an `overloaded` run was never begun.
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
