/** A server that Toolgate started for itself, on loopback, with its data in a folder. */
export type LocalServer = AsyncDisposable & {
  readonly name: string;
  /** Where clients connect; the same after every restart. */
  readonly url: string;
  /** The process that runs now, or 0 when none does or when it is not ours (Docker). */
  readonly pid: number;
  /** Ends when the process that runs now ends, for whatever reason, and says how. */
  exited(): Promise<string>;
  /** Stops it in order; with `graceMs` it is killed after that time. */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL, as a crash test wants it. */
  kill(): Promise<void>;
  /** Stops it when it runs, and starts it on the same port with the same data. */
  restart(): Promise<void>;
};
