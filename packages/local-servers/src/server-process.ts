import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "./account.ts";
import { until } from "./condition.ts";
import type { LocalServer } from "./local-server.ts";
import { openLog, readTail } from "./log-file.ts";
import type { PortBook } from "./port-book.ts";
import { isAlive, readPid, runsWith } from "./process-table.ts";

const READY_DEADLINE_MS = 30_000;
const READY_POLL_MS = 40;
const STOP_GRACE_MS = 8_000;
const KILL_DEADLINE_MS = 5_000;
const STOP_POLL_MS = 20;
const RETRY_WAIT_MS = 150;
const MAX_PORTS_TRIED = 5;

/** What a server program needs to be run; `identity` is an argument that only this server's process has. */
export type ServerSpec = {
  readonly name: string;
  readonly ports: PortBook;
  readonly command: string;
  readonly cwd: string;
  readonly identity: string;
  readonly pidFile: string;
  readonly logFile: string;
  readonly stopSignal: "SIGINT" | "SIGTERM";
  readonly account?: Account | undefined;
  /** Prepares a start on this port (configuration files) and answers the arguments. */
  arguments(port: number): Promise<string[]> | string[];
  /** True once this server answers there, and no other that has its port. */
  ready(port: number): Promise<boolean>;
  url(port: number): string;
  /** Log lines after which starting again helps, such as memory that a killed process has not yet given back. */
  readonly passing?: RegExp;
};

type Running = { readonly child: ChildProcess; readonly ended: Promise<string> };

/**
 * Starts a server and waits until it is ready; at most 30 s, then the error carries the end of its log.
 * What a former run left behind on the same data is stopped first.
 */
export async function startServer(spec: ServerSpec, signal?: AbortSignal): Promise<LocalServer> {
  await stopLeftover(spec.pidFile, spec.identity, spec.stopSignal);
  let port = await spec.ports.take(spec.name);
  let running: Running | undefined;
  for (let tries = 1; running === undefined; tries++) {
    try {
      running = await launch(spec, port, signal);
    } catch (error) {
      if (tries === MAX_PORTS_TRIED || !/address already in use/i.test(String(error))) throw error;
      spec.ports.forget(spec.name);
      port = await spec.ports.take(spec.name);
    }
  }
  let current = running;
  const stop = (graceMs = STOP_GRACE_MS) => endProcess(current, spec.stopSignal, graceMs);
  return {
    name: spec.name,
    url: spec.url(port),
    get pid() {
      return hasEnded(current.child) ? 0 : (current.child.pid ?? 0);
    },
    exited: () => current.ended,
    stop,
    kill: () => endProcess(current, "SIGKILL", KILL_DEADLINE_MS),
    async restart() {
      await stop();
      current = await launch(spec, port, signal);
    },
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** Stops the process named in `pidFile` when it still runs and has `identity` among its arguments. */
export async function stopLeftover(pidFile: string, identity: string, stopSignal: NodeJS.Signals): Promise<void> {
  const pid = await readPid(pidFile);
  if (pid === undefined || !(await runsWith(pid, identity))) return;
  process.kill(pid, stopSignal);
  const gone = () => (isAlive(pid) ? undefined : true);
  if (await until(gone, { deadlineMs: STOP_GRACE_MS, everyMs: STOP_POLL_MS })) return;
  process.kill(pid, "SIGKILL");
  if (await until(gone, { deadlineMs: KILL_DEADLINE_MS, everyMs: STOP_POLL_MS })) return;
  throw new Error(`process ${pid} of a former run does not end`);
}

async function launch(spec: ServerSpec, port: number, signal?: AbortSignal): Promise<Running> {
  const end = performance.now() + READY_DEADLINE_MS;
  const args = await spec.arguments(port);
  for (;;) {
    signal?.throwIfAborted();
    const log = await openLog(spec.logFile);
    const running = spawnServer(spec, args, log.handle.fd);
    const outcome = await waitUntilReady(running, () => spec.ready(port), end, signal).finally(() =>
      log.handle.close(),
    );
    if (outcome === "ready") return running;
    await endProcess(running, "SIGKILL", KILL_DEADLINE_MS);
    signal?.throwIfAborted();
    const tail = await readTail(spec.logFile, log.startBytes);
    if (performance.now() >= end || !spec.passing?.test(tail)) {
      throw new Error(`${spec.name} did not start (${outcome}); the end of ${spec.logFile}:\n${tail}`);
    }
    await sleep(RETRY_WAIT_MS);
  }
}

// A group of its own (detached) keeps the terminal's Ctrl-C away from the server until the services have drained.
function spawnServer(spec: ServerSpec, args: string[], logFd: number): Running {
  const child = spawn(spec.command, args, {
    cwd: spec.cwd,
    detached: true,
    stdio: ["ignore", logFd, logFd],
    ...(spec.account && { uid: spec.account.uid, gid: spec.account.gid }),
  });
  const failed = once(child, "error").then(([error]) => `cannot run ${spec.command}: ${(error as Error).message}`);
  const exited = once(child, "exit").then(([code, killedBy]) =>
    killedBy ? `ended by ${killedBy}` : `exit code ${code}`,
  );
  exited.catch(() => {});
  return { child, ended: Promise.race([exited, failed]) };
}

async function waitUntilReady(running: Running, ready: () => Promise<boolean>, end: number, signal?: AbortSignal) {
  let ended: string | undefined;
  void running.ended.then((how) => {
    ended = how;
  });
  while (ended === undefined && !signal?.aborted) {
    // Another process may answer on this port, while the own one finds it taken and ends.
    if (await ready()) return ended ?? "ready";
    if (performance.now() >= end) return `not ready after ${READY_DEADLINE_MS / 1000} s`;
    await sleep(READY_POLL_MS);
  }
  return ended ?? "interrupted";
}

async function endProcess(running: Running, first: NodeJS.Signals, graceMs: number): Promise<void> {
  const { child } = running;
  if (hasEnded(child)) return;
  child.kill(first);
  const killer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await running.ended;
  clearTimeout(killer);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
