import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { keepRunning } from "./keep-running.ts";

const READY_DEADLINE_MS = 30_000;
const READY_POLL_MS = 40;
const STOP_GRACE_MS = 8_000;
const PRELOAD = new URL("./exit-with-parent.ts", import.meta.url).href;

export type ServiceSettings = {
  readonly name: string;
  /** The launcher, such as `services/gateway/src/main.ts`. */
  readonly entry: string;
  /** For Node itself, such as `--inspect`. */
  readonly nodeArgs?: readonly string[];
  /** The whole environment of the process; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** True once the service takes work. */
  ready(): Promise<boolean>;
  readonly log: (line: string) => void;
  /** Gives up the first start, while it is under way. */
  readonly signal?: AbortSignal;
};

export type ServiceProcess = AsyncDisposable & {
  readonly name: string;
  readonly pid: number;
  /** SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
};

type Running = {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
  /** The end of what it has printed. */
  readonly lastLines: readonly string[];
};

const LAST_LINES = 3;

/**
 * Starts a service as a Node process of its own and waits until it is ready (at most 30 s); starts it again whenever
 * it ends unexpectedly. It has a process group of its own, so that Ctrl-C reaches only its supervisor.
 */
export async function startServiceProcess(settings: ServiceSettings): Promise<ServiceProcess> {
  const stopping = new AbortController();
  let current = await launch(settings, settings.signal ?? stopping.signal);
  const subject = {
    name: settings.name,
    exited: () => current.ended,
    async restart() {
      current = await launch(settings, stopping.signal);
    },
  };
  const upkeep = keepRunning(subject, { log: settings.log, signal: stopping.signal });
  const stop = async (graceMs = STOP_GRACE_MS) => {
    stopping.abort();
    await upkeep;
    await end(current, graceMs);
  };
  return {
    name: settings.name,
    get pid() {
      return hasEnded(current.child) ? 0 : (current.child.pid ?? 0);
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

async function launch(settings: ServiceSettings, signal: AbortSignal): Promise<Running> {
  const running = spawnService(settings);
  let ended: string | undefined;
  void running.ended.then((how) => {
    ended = how;
  });
  // At once, so that nobody waits for an answer of a service that has come no further.
  const giveUp = () => running.child.kill("SIGKILL");
  signal.addEventListener("abort", giveUp, { once: true });
  const deadline = performance.now() + READY_DEADLINE_MS;
  try {
    while (ended === undefined && !signal.aborted && performance.now() < deadline) {
      if (await settings.ready()) return running;
      await sleep(READY_POLL_MS);
    }
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
  await end(running, 0);
  throw new Error(`${settings.name} did not start (${ended ?? "not ready in time"}): ${running.lastLines.join("\n")}`);
}

function spawnService({ name, entry, nodeArgs = [], env, log }: ServiceSettings): Running {
  const child = spawn(process.execPath, [...nodeArgs, "--import", PRELOAD, entry], {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const lastLines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    if (!output) continue;
    createInterface({ input: output }).on("line", (line) => {
      if (lastLines.push(line) > LAST_LINES) lastLines.shift();
      log(`${name}: ${line}`);
    });
  }
  const failed = once(child, "error").then(([error]) => (error as Error).message);
  const exited = once(child, "exit").then(([code, killedBy]) =>
    killedBy ? `ended by ${killedBy}` : `exit code ${code}`,
  );
  exited.catch(() => {});
  return { child, ended: Promise.race([exited, failed]), lastLines };
}

async function end({ child, ended }: Running, graceMs: number): Promise<void> {
  if (hasEnded(child)) return;
  child.kill(graceMs > 0 ? "SIGTERM" : "SIGKILL");
  const killer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await ended;
  clearTimeout(killer);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
