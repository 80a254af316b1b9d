import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startLogged } from "./child.ts";
import type { Ports } from "./ports.ts";
import { isAlive, readPid, runsWith } from "./process-table.ts";
import { ADMIN } from "./server-accounts.ts";

/** A server that Toolgate started for itself, on loopback, with its data in a folder. */
export type LocalServer = AsyncDisposable & {
  readonly name: string;
  /** Where clients connect; the same after every restart. */
  readonly url: string;
  /** The same for each of the users that it was started with. */
  readonly urls: Readonly<Record<string, string>>;
  /** The id of the process that runs now; 0 when none does. */
  readonly pid: number;
  /** Resolves when the process that runs now ends, for whatever reason, with how it ended. */
  exited(): Promise<string>;
  /** Stops it cleanly; it is killed after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL, for crash tests. */
  kill(): Promise<void>;
  /** Stops it when it runs, and starts it on the same port with the same data. */
  restart(): Promise<void>;
};

/** A user of this machine. */
export type Account = { readonly name: string; readonly uid: number; readonly gid: number };

/** What a server program needs to be run; `identity` is an argument that only this server's process has. */
type ServerSpec = {
  readonly name: string;
  readonly ports: Ports;
  readonly command: string;
  readonly cwd: string;
  readonly identity: string;
  readonly pidFile: string;
  readonly logFile: string;
  readonly stopSignal: "SIGINT" | "SIGTERM";
  readonly account?: Account | undefined;
  /** Prepares a start on this port (configuration files) and returns the arguments. */
  arguments(port: number): Promise<string[]> | string[];
  /** True once this server, and not another program with its port, responds there. */
  ready(port: number): Promise<boolean>;
  /** Where clients connect, by user: the administrator and those that it was started with. */
  urls(port: number): Readonly<Record<string, string>>;
  /** Errors in the log that a second start may not have, such as one about memory that a killed process still occupies. */
  readonly transientError?: RegExp;
};

const READY_DEADLINE_MS = 30_000;
const STOP_GRACE_MS = 8_000;
const KILL_DEADLINE_MS = 5_000;
const STOP_POLL_MS = 20;
const RETRY_WAIT_MS = 150;
const MAX_PORTS_TRIED = 5;

/**
 * Starts a server and waits until it is ready; after 30 s it fails with the end of the server's log. Anything that an
 * earlier run left behind on the same data is stopped first.
 */
export async function startServer(spec: ServerSpec, signal?: AbortSignal): Promise<LocalServer> {
  await stopLeftover(spec.pidFile, spec.identity, spec.stopSignal);
  let { child, port } = await launchOnFreePort(spec, signal);
  const stop = (graceMs = STOP_GRACE_MS) => child.end(spec.stopSignal, graceMs);
  const urls = spec.urls(port);
  return {
    name: spec.name,
    url: urls[ADMIN] ?? "",
    urls,
    get pid() {
      return child.pid;
    },
    exited: () => child.ended,
    stop,
    kill: () => child.end("SIGKILL", 0),
    async restart() {
      await stop();
      child = await launch(spec, port, signal);
    },
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** Stops the process named in `pidFile` when it still runs and has `identity` among its arguments. */
export async function stopLeftover(pidFile: string, identity: string, stopSignal: NodeJS.Signals): Promise<void> {
  const pid = await readPid(pidFile);
  if (pid === undefined || !(await runsWith(pid, identity))) return;
  for (const [signal, deadlineMs] of [[stopSignal, STOP_GRACE_MS] as const, ["SIGKILL", KILL_DEADLINE_MS] as const]) {
    process.kill(pid, signal);
    for (const end = performance.now() + deadlineMs; performance.now() < end; await sleep(STOP_POLL_MS)) {
      if (!isAlive(pid)) return;
    }
  }
  throw new Error(`process ${pid} of an earlier run does not end`);
}

async function launchOnFreePort(spec: ServerSpec, signal: AbortSignal | undefined) {
  for (let tries = 1; ; tries++) {
    const port = await spec.ports.take(spec.name);
    try {
      return { port, child: await launch(spec, port, signal) };
    } catch (error) {
      if (tries === MAX_PORTS_TRIED || !/address already in use/i.test(String(error))) throw error;
      spec.ports.forget(spec.name);
    }
  }
}

async function launch(spec: ServerSpec, port: number, signal: AbortSignal | undefined): Promise<Child> {
  const { name, command, cwd, account, logFile } = spec;
  const end = performance.now() + READY_DEADLINE_MS;
  const options = { cwd, ...(account && { uid: account.uid, gid: account.gid }) };
  const args = await spec.arguments(port);
  for (;;) {
    signal?.throwIfAborted();
    const deadlineMs = end - performance.now();
    const ready = () => spec.ready(port);
    try {
      return await startLogged({ name, command, args, options, logFile, ready, deadlineMs, signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (performance.now() >= end || !spec.transientError?.test(String(error))) throw error;
    }
    await sleep(RETRY_WAIT_MS);
  }
}
