import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const READY_POLL_MS = 40;

/** A process that was started here, and how it ends. */
export type Child = {
  readonly process: ChildProcess;
  /** 0 once it has ended, or when it could not be started. */
  readonly pid: number;
  /** Resolves with how it ended, such as "exit code 1" or "ended by SIGKILL". */
  readonly ended: Promise<string>;
  /** Sends `signal`, and SIGKILL after `graceMs`; resolves when the process has ended. */
  end(signal: NodeJS.Signals, graceMs: number): Promise<void>;
};

/** Starts a process in its own process group, so that a terminal's Ctrl-C does not reach it. */
export function startChild(command: string, args: readonly string[], options: SpawnOptions): Child {
  const child = spawn(command, args, { ...options, detached: true });
  const failed = once(child, "error").then(([error]) => `cannot run ${command}: ${(error as Error).message}`);
  const exited = once(child, "exit").then(([code, killedBy]) =>
    killedBy ? `ended by ${killedBy}` : `exit code ${code}`,
  );
  exited.catch(() => {});
  const ended = Promise.race([exited, failed]);
  const pid = () => (child.exitCode === null && child.signalCode === null ? (child.pid ?? 0) : 0);
  return {
    process: child,
    get pid() {
      return pid();
    },
    ended,
    async end(signal, graceMs) {
      if (pid() === 0) return;
      child.kill(signal);
      const killer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await ended;
      clearTimeout(killer);
    },
  };
}

/**
 * Waits until `ready` returns true while the process runs: another program may respond on a port that this one found
 * taken. Returns `undefined` when it is ready, otherwise what happened instead. Kills the process as soon as `signal`
 * is aborted.
 */
export async function untilReady(
  child: Child,
  ready: () => Promise<boolean>,
  { deadlineMs, signal }: { deadlineMs: number; signal?: AbortSignal | undefined },
): Promise<string | undefined> {
  const end = performance.now() + deadlineMs;
  const giveUp = () => child.process.kill("SIGKILL");
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    while (child.pid !== 0 && !signal?.aborted) {
      if ((await ready()) && child.pid !== 0) return undefined;
      if (performance.now() >= end) return "not ready in time";
      await sleep(READY_POLL_MS);
    }
    return signal?.aborted ? "interrupted" : child.ended;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}
