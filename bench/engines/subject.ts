/** A way to run a tool's handler, with one tool of one tenant. */
export interface Tenant extends AsyncDisposable {
  /** Runs the handler with arguments as JSON; a call of `ctx.callTool` gets its argument back. */
  call(argsJson: string): Promise<string>;
  /** The processes that belong to this tenant alone. */
  readonly pids: readonly number[];
}

export interface Subject extends AsyncDisposable {
  /** What is measured, in the words of the report. */
  readonly name: string;
  /** Starts what a tenant needs, up to the compiled handler. */
  open(handler: string): Promise<Tenant>;
}

/** A run may use this much CPU time. */
export const LIMIT_MS = 1_000;
/** Resident memory, or heap, that a tenant may use. */
export const LIMIT_MIB = 32;

export const SUBJECTS = ["isolated-vm", "process", "quickjs"] as const;

export type SubjectName = (typeof SUBJECTS)[number];
