import { createInterface } from "node:readline";
import { type Child, startChild, untilReady } from "@toolgate/local-servers/child";
import { keepRunning } from "./keep-running.ts";

/** Several services may be starting on a small machine. */
const READY_DEADLINE_MS = 240_000;
const STOP_GRACE_MS = 8_000;
/** Rarer collections and shorter pauses; what was measured: docs/operators.md, "Start by hand". */
export const GARBAGE_OPTIONS = ["--max-semi-space-size=32", "--v8-pool-size=1"];
const PRELOAD = new URL("./exit-with-parent.ts", import.meta.url).href;
const LAST_LINES = 3;

type ServiceSettings = {
  readonly name: string;
  /** The launcher, such as `services/gateway/src/main.ts`. */
  readonly entry: string;
  /** The whole environment of the process; only the folder of compiled code is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** True once the service accepts work. */
  ready(): Promise<boolean>;
  readonly log: (line: string) => void;
  /** Cuts the first start short, while it is under way. */
  readonly signal?: AbortSignal | undefined;
};

export type ServiceProcess = AsyncDisposable & {
  readonly name: string;
  readonly pid: number;
  /** SIGTERM, and SIGKILL after `graceMs`. Resolves with how it ended, such as "exit code 0". */
  stop(graceMs?: number): Promise<string>;
};

/**
 * Starts a service as a Node process of its own and waits until it is ready (at most 4 min); starts it again whenever
 * it ends unexpectedly. It has a process group of its own, so that Ctrl-C reaches only its supervisor.
 */
export async function startServiceProcess(settings: ServiceSettings): Promise<ServiceProcess> {
  const { name, log } = settings;
  const stopping = new AbortController();
  let child = await launch(settings, settings.signal ?? stopping.signal);
  const service = {
    name,
    exited: () => child.ended,
    async restart() {
      child = await launch(settings, stopping.signal);
    },
  };
  const watch = keepRunning(service, { log, signal: stopping.signal });
  const stop = async (graceMs = STOP_GRACE_MS) => {
    stopping.abort();
    await watch;
    await child.end("SIGTERM", graceMs);
    return child.ended;
  };
  return {
    name,
    get pid() {
      return child.pid;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

/** Asks the service on this operations port whether it accepts work. */
export async function isReady(opsPort: number, host = "127.0.0.1"): Promise<boolean> {
  const response = await fetch(`http://${host}:${opsPort}/readyz`).catch(() => undefined);
  return response?.ok ?? false;
}

/** Where Node keeps compiled code, if this process has such a folder; a start without it costs half as much again. */
function compileCache(): Record<string, string> {
  const folder = process.env.NODE_COMPILE_CACHE;
  return folder ? { NODE_COMPILE_CACHE: folder } : {};
}

async function launch(settings: ServiceSettings, signal: AbortSignal): Promise<Child> {
  const { name, entry, env, ready, log } = settings;
  const child = startChild(process.execPath, [...GARBAGE_OPTIONS, "--import", PRELOAD, entry], {
    env: { ...compileCache(), ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const lastLines: string[] = [];
  for (const output of [child.process.stdout, child.process.stderr]) {
    if (!output) continue;
    createInterface({ input: output }).on("line", (line) => {
      if (lastLines.push(line) > LAST_LINES) lastLines.shift();
      log(`${name}: ${line}`);
    });
  }
  const failure = await untilReady(child, ready, { deadlineMs: READY_DEADLINE_MS, signal });
  if (failure === undefined) return child;
  throw new Error(`${name} did not start (${failure}): ${lastLines.join("\n")}`);
}
