import { createInterface } from "node:readline";
import { GARBAGE_OPTIONS } from "@toolgate/local/service-process";
import { startChild, untilReady } from "@toolgate/local-servers/child";

const START_DEADLINE_MS = 120_000;
const PROBE_DEADLINE_MS = 10_000;
const LAST_TROUBLES = 5;
const MAX_LINE_CHARS = 2_000;
const EXIT_WITH_PARENT = new URL("../../../local/src/exit-with-parent.ts", import.meta.url).href;
const NAME_SERVICE = new URL("name-service.ts", import.meta.url).href;

interface PodSettings {
  /** Such as `key-auth`, as the chart names it. */
  process: string;
  /** The launcher, with its path. */
  entry: string;
  /** The version that it runs. */
  version: string;
  /** An address of its own on loopback. */
  ip: string;
  opsPort: number;
  env: Readonly<Record<string, string>>;
  /** From SIGTERM to SIGKILL. */
  graceMs: number;
  log: (line: string) => void;
}

/** A process with an address of its own, like a pod's. */
export interface Pod extends Pick<PodSettings, "process" | "version" | "ip"> {
  /** Whether probes find it ready. */
  isReady(): Promise<boolean>;
  /** It has got SIGTERM. */
  readonly isTerminating: boolean;
  /** SIGTERM, and SIGKILL after its grace period. Resolves with how it ended. */
  terminate(): Promise<string>;
  /** Undefined while it runs. */
  readonly end: string | undefined;
  /** What it wrote last, warnings and errors only. */
  readonly lastTroubles: readonly string[];
}

/** Starts it and waits until it is ready. */
export async function startPod({ entry, env, opsPort, graceMs, log, ...names }: PodSettings): Promise<Pod> {
  const preloads = ["--import", EXIT_WITH_PARENT, "--import", NAME_SERVICE];
  const child = startChild(process.execPath, [...GARBAGE_OPTIONS, ...preloads, entry], {
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const label = `${names.process} ${names.ip} ${names.version}`;
  const lastTroubles: string[] = [];
  for (const output of [child.process.stdout, child.process.stderr]) {
    if (!output) continue;
    createInterface({ input: output }).on("line", (line) => {
      log(`${label}: ${line}`);
      if (line.includes('"level":"info"')) return;
      lastTroubles.push(line.slice(0, MAX_LINE_CHARS));
      if (lastTroubles.length > LAST_TROUBLES) lastTroubles.shift();
    });
  }
  let end: string | undefined;
  void child.ended.then((how) => {
    end = how;
    log(`${label}: ended: ${how}`);
  });
  let isTerminating = false;
  const isReady = () => isOk(`http://${names.ip}:${opsPort}/readyz`);
  const failure = await untilReady(child, isReady, { deadlineMs: START_DEADLINE_MS });
  if (failure !== undefined) {
    await child.end("SIGKILL", 0);
    throw new Error(`${label} did not start: ${failure}`);
  }
  log(`${label}: ready`);
  return {
    ...names,
    isReady,
    get isTerminating() {
      return isTerminating;
    },
    async terminate() {
      isTerminating = true;
      await child.end("SIGTERM", graceMs);
      return child.ended;
    },
    get end() {
      return end;
    },
    lastTroubles,
  };
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_DEADLINE_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
