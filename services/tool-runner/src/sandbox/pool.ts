import { sandboxChildren, sandboxChildrenEnded, sandboxRuns } from "@toolgate/telemetry/instruments";
import { outsideRequest } from "@toolgate/telemetry/request";
import { HOST_FUNCTIONS } from "../domain/host-functions.ts";
import { DEFAULT_POOL_LIMITS, type PoolLimits } from "./limits.ts";
import type { ChildEvents } from "./pool/child.ts";
import { Children } from "./pool/children.ts";
import { CpuUsage } from "./pool/cpu-usage.ts";
import { Placement } from "./pool/placement.ts";
import { stopped } from "./pool/run.ts";
import { RunRegistry } from "./pool/run-registry.ts";
import { watchChild } from "./pool/watchdog.ts";
import type { SpawnProcess } from "./processes/engine-process.ts";
import { MAX_MESSAGE_CHARS } from "./protocol/frames.ts";
import type { SandboxLog, SandboxOutcome, SandboxRequest } from "./request.ts";

/*
 * The sandbox runs handlers in child processes. `pool/` is the parent: `run-registry.ts` knows every run and its state,
 * `children.ts` the processes, and `placement.ts` decides which run goes where. `protocol/` is what the two sides share,
 * `child/` is the child program, and `guest/` the part of it that runs inside an isolate next to the tool.
 */

const TICK_MS = 20;

type SandboxPoolOptions = {
  children: number;
  /** Starts the process of a child. */
  spawn: SpawnProcess;
  limits?: Partial<PoolLimits> | undefined;
  log: SandboxLog;
  /** Called when code of a workspace has crashed a child or had it killed. */
  onHarm?: (workspaceId: string, reason: string) => void;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
};

export type SandboxPool = AsyncDisposable & {
  /** Runs a compiled handler. Never rejects: what went wrong is in the outcome. */
  run: (request: SandboxRequest) => Promise<SandboxOutcome>;
  /** Whether a child is up that could begin a run. */
  isReady: () => boolean;
  /** Process ids of the children on this machine. */
  pids: () => number[];
};

export function createSandboxPool(options: SandboxPoolOptions): SandboxPool {
  const { log, onHarm = () => {}, now = () => performance.now() } = options;
  const limits = { ...DEFAULT_POOL_LIMITS, ...options.limits };
  const usage = new CpuUsage(now);
  const placement = new Placement(usage, now, limits, log);
  const runs = new RunRegistry(placement, usage, limits, onHarm);
  let timer: NodeJS.Timeout | undefined;
  let upAt = now();
  let closed = false;

  const placeRuns = () => runs.place(children);
  const settings = { functions: HOST_FUNCTIONS, ...limits };
  const events: ChildEvents = {
    onMessage: (child, message) => runs.handleMessage(child, message),
    onFrame: () => {
      placeRuns();
      children.endLeaving();
    },
    onDraining: (child) => {
      children.replaceLeaving(child);
      placeRuns();
    },
    onEnd: (child, end) => {
      sandboxChildrenEnded.add(1, { reason: child.killedFor === undefined ? "crashed" : "killed" });
      const logEnd = () =>
        log.warn({ pid: child.process.pid, killedFor: child.killedFor, ...end }, "sandbox child ended");
      const run = child.currentRun();
      if (run === undefined) logEnd();
      else run.inRequest(logEnd);
      runs.handleChildEnd(child, end, children);
      placeRuns();
    },
  };
  const children = new Children(options.children, settings, options.spawn, events, now);

  const measures = new DisposableStack();
  measures.use(
    sandboxChildren.observe(() => {
      const all = children.all();
      const ready = all.filter((child) => child.ready).length;
      return [
        [ready, { state: "ready" }],
        [all.length - ready, { state: "starting" }],
      ];
    }),
  );
  measures.use(
    sandboxRuns.observe(() => [
      [runs.size - runs.placed, { state: "waiting" }],
      [runs.placed, { state: "placed" }],
    ]),
  );

  const isReady = () => children.of("ordinary").some((child) => child.ready);

  const tick = () => {
    const time = now();
    if (isReady()) upAt = time;
    else if (time - upAt >= limits.startPatienceMs) runs.endWaiting("No sandbox process is up");
    for (const child of children.all()) {
      watchChild(child, limits, time);
      if (child.stalled) runs.reassignUnstarted(child, time - child.progressAt);
      if (child.stepCpuMs >= limits.slowStepMs) runs.slowDownCurrent(child);
    }
    runs.expire(time);
    placeRuns();
    // A run may have ended while its child still hangs in it.
    if (runs.size > 0 || children.all().some(({ steps }) => steps.length > 0)) return;
    clearInterval(timer);
    timer = undefined;
    for (const child of children.all()) child.process.rest();
  };

  const refusal = ({ workspaceId, argsJson, code, signal }: SandboxRequest): SandboxOutcome | undefined => {
    if (closed) return stopped("interrupted", "The sandbox is closed");
    if (signal?.aborted) return stopped("cancelled", "The caller disconnected");
    if (argsJson.length > MAX_MESSAGE_CHARS || code.length > MAX_MESSAGE_CHARS) {
      return stopped("memory", "The tool or its arguments are larger than its memory");
    }
    if (runs.hasRoomFor(workspaceId)) return undefined;
    return stopped("overloaded", `The workspace has used up its share of the ${limits.activeRuns} concurrent runs`);
  };

  return {
    isReady,
    run: (request) =>
      new Promise((finish) => {
        const refused = refusal(request);
        if (refused !== undefined) return finish(refused);
        const time = now();
        runs.accept(request, time, finish);
        placeRuns();
        if (timer !== undefined) return;
        upAt = time;
        timer = outsideRequest(() => setInterval(tick, TICK_MS));
      }),
    pids: () => children.all().flatMap(({ process }) => process.pid ?? []),
    [Symbol.asyncDispose]: async () => {
      closed = true;
      clearInterval(timer);
      measures.dispose();
      runs.endAll();
      await children[Symbol.asyncDispose]();
    },
  };
}
