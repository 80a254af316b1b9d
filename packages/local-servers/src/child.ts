import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { openLog, readTail } from "./log-file.ts";

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

type Wait = { readonly deadlineMs: number; readonly signal?: AbortSignal | undefined };

/** Starts a process in its own process group, so that a terminal's Ctrl-C does not reach it. */
export function startChild(command: string, args: readonly string[], options: SpawnOptions): Child {
  const child = spawn(command, args, { ...options, detached: true });
  const ended = once(child, "exit").then(
    ([code, killedBy]) => (killedBy ? `ended by ${killedBy}` : `exit code ${code}`),
    (error: Error) => `cannot run ${command}: ${error.message}`,
  );
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
 * taken. Returns `undefined` when it is ready, otherwise what happened instead; the process has then ended. Kills it as
 * soon as `signal` is aborted.
 */
export async function untilReady(
  child: Child,
  ready: () => Promise<boolean>,
  { deadlineMs, signal }: Wait,
): Promise<string | undefined> {
  const end = performance.now() + deadlineMs;
  const kill = () => child.process.kill("SIGKILL");
  signal?.addEventListener("abort", kill);
  let isReady = false;
  while (!isReady && child.pid !== 0 && !signal?.aborted && performance.now() < end) {
    isReady = (await ready().catch(() => false)) && child.pid !== 0;
    if (!isReady) await sleep(READY_POLL_MS);
  }
  signal?.removeEventListener("abort", kill);
  if (isReady) return undefined;
  const isLate = child.pid !== 0;
  await child.end("SIGKILL", 0);
  if (signal?.aborted) return "interrupted";
  return isLate ? "not ready in time" : child.ended;
}

type Program = Wait & {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Gets what the program prints. */
  readonly logFile: string;
  readonly options?: SpawnOptions;
  ready(): Promise<boolean>;
};

/** Starts a program and waits until it is ready; otherwise fails with the end of its log. */
export async function startLogged(program: Program): Promise<Child> {
  const { name, command, args, logFile, options } = program;
  const log = await openLog(logFile);
  const { fd } = log.handle;
  const child = startChild(command, args, { ...options, stdio: ["ignore", fd, fd] });
  await log.handle.close();
  const failure = await untilReady(child, program.ready, program);
  if (failure === undefined) return child;
  throw new Error(
    `${name} did not start (${failure}); the end of ${logFile}:\n${await readTail(logFile, log.startBytes)}`,
  );
}

/** Runs a command to its end; false when it fails or is not there. */
export async function succeeds(command: string, args: readonly string[], options?: SpawnOptions): Promise<boolean> {
  const exited = once(spawn(command, args, { stdio: "ignore", ...options }), "exit");
  return exited.then(
    ([code]) => code === 0,
    () => false,
  );
}
