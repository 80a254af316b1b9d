import { sandboxChildren, sandboxChildrenEnded, sandboxRuns } from "@toolgate/telemetry/instruments";
import { outsideRequest } from "@toolgate/telemetry/request";
import { DEFAULT_POOL_LIMITS, type PoolLimits } from "./limits.ts";
import { Child, type ChildEvents } from "./pool/child.ts";
import { Processes } from "./pool/processes.ts";
import { stopped } from "./pool/run.ts";
import { Runs } from "./pool/runs.ts";
import type { SpawnProcess } from "./processes/engine-process.ts";
import { MAX_MESSAGE_CHARS } from "./protocol/frames.ts";
import type { SandboxLog, SandboxOutcome, SandboxRequest } from "./request.ts";

/*
 * The sandbox runs handlers in child processes; a workspace's code runs in a process of its own. `pool/` is the parent, in
 * the process of tool-runner:
 * `runs.ts` knows every run and its state, and `processes.ts` which workspace has which process. `protocol/` is what the
 * two sides share, `child/` is the child program, and `guest/` the part of it that runs inside an isolate next to the tool.
 */

const TICK_MS = 20;

type SandboxPoolOptions = {
  /** So many processes belong to workspaces at the same time. */
  processes: number;
  /** What a tool may call on `ctx`. */
  functions: readonly string[];
  /** Starts the process of a child. */
  spawn: SpawnProcess;
  limits?: Partial<PoolLimits> | undefined;
  log: SandboxLog;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
};

export type SandboxPool = AsyncDisposable & {
  /** Runs a compiled handler. Never rejects: what went wrong is in the outcome. */
  run: (request: SandboxRequest) => Promise<SandboxOutcome>;
  /** Whether a child is up. */
  isReady: () => boolean;
  /** Process ids of the children on this machine, of a workspace or of all. */
  pids: (workspaceId?: string) => number[];
};

export function createSandboxPool(options: SandboxPoolOptions): SandboxPool {
  const { log, now = () => performance.now() } = options;
  const limits = { functions: options.functions, ...DEFAULT_POOL_LIMITS, ...options.limits };
  const runs = new Runs(limits, now);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** Since when processes end before they are up, or cannot be started at all. */
  let failingSince: number | undefined;
  /** Why a process could not be started: the same again every half second would fill the log. */
  let reported = "";

  const placeRuns = () => runs.place(processes);
  const events: ChildEvents = {
    onMessage: (child, message) => runs.handleMessage(child, message),
    onUp: () => {
      failingSince = undefined;
    },
    onFrame: () => {
      placeRuns();
      processes.endLeaving();
    },
    onDraining: (child) => {
      processes.leave(child);
      placeRuns();
    },
    onEnd: (child, end) => {
      processes.remove(child);
      if (closed || child.isRetired) return;
      const { killedFor, workspaceId } = child;
      if (!child.ready) failingSince = end.isFull ? undefined : (failingSince ?? now());
      sandboxChildrenEnded.add(1, { reason: killedFor === undefined ? "crashed" : "killed" });
      if (child.ready || end.stderr !== reported) {
        log.warn({ pid: child.process.pid, workspaceId, killedFor, ...end }, "sandbox child ended");
      }
      reported = child.ready ? "" : end.stderr;
      runs.handleChildEnd(child, end);
      placeRuns();
    },
  };
  const start = () => {
    try {
      return new Child(limits, options.spawn, events, now);
    } catch (error) {
      failingSince ??= now();
      if (reported !== String(error)) log.warn({ err: error }, "sandbox child not started");
      reported = String(error);
      throw error;
    }
  };
  const processes = new Processes(options.processes, start, now);

  const measures = new DisposableStack();
  measures.use(
    sandboxChildren.observe(() => {
      const all = processes.all();
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

  const tick = () => {
    for (const child of processes.all()) {
      if (child.isStalled(limits.stallMs)) child.giveBack();
      child.checkResponse();
    }
    runs.expire(processes, failingSince);
    placeRuns();
    if (runs.size > 0) return;
    clearInterval(timer);
    timer = undefined;
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
    isReady: () => processes.all().some((child) => child.ready),
    run: (request) =>
      new Promise((finish) => {
        const refused = refusal(request);
        if (refused !== undefined) return finish(refused);
        runs.accept(request, finish);
        placeRuns();
        timer ??= outsideRequest(() => setInterval(tick, TICK_MS));
      }),
    pids: (workspaceId) => {
      const children = workspaceId === undefined ? processes.all() : processes.of(workspaceId);
      return children.flatMap(({ process }) => process.pid ?? []);
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      clearInterval(timer);
      measures.dispose();
      runs.endAll();
      await processes[Symbol.asyncDispose]();
    },
  };
}
