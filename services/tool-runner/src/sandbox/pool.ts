import { stopped } from "./active-run.ts";
import { createChildSet } from "./child-set.ts";
import { createDispatch } from "./dispatch.ts";
import { DEFAULT_POOL_LIMITS, type PoolLimits } from "./limits.ts";
import type { SandboxOutcome, SandboxRequest } from "./outcome.ts";
import { MAX_MESSAGE_CHARS } from "./protocol.ts";
import { createQuarantine } from "./quarantine.ts";
import { createRunBook } from "./run-book.ts";
import { mayTakeOne } from "./share.ts";
import { takeBack, watchChild } from "./watchdog.ts";

const TICK_MS = 20;

export type SandboxLog = { warn: (fields: Record<string, unknown>, message: string) => void };

export type SandboxPoolOptions = {
  children: number;
  limits?: Partial<PoolLimits>;
  log: SandboxLog;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
};

export type SandboxPool = AsyncDisposable & {
  /** Runs a compiled handler. Never rejects: what went wrong is in the outcome. */
  run: (request: SandboxRequest) => Promise<SandboxOutcome>;
  /** Whether a child is up that could begin a run. */
  isReady: () => boolean;
  /** Process ids of the children. */
  pids: () => number[];
};

export function createSandboxPool(options: SandboxPoolOptions): SandboxPool {
  const { log, now = () => performance.now() } = options;
  const limits = { ...DEFAULT_POOL_LIMITS, ...options.limits };
  const { hostCallsPerRun: hostCalls, hostCallsAtOncePerRun: hostCallsAtOnce, hostCallBytes } = limits;
  const ofEveryRun = { hostCalls, hostCallsAtOnce, hostCallBytes, logLines: limits.logLinesPerRun };
  const quarantine = createQuarantine(now, limits.quarantineMs);
  let timer: NodeJS.Timeout | undefined;
  let upAt = now();
  let closed = false;

  const book = createRunBook({
    limits,
    now,
    placeAgain: (run) => dispatch.addFirst(run),
    blame: (key, reason) => {
      log.warn({ key, reason }, "tool version put in quarantine");
      quarantine.suspect(key);
    },
  });
  const children = createChildSet(
    options.children,
    {
      onMessage: book.onMessage,
      onProgress: () => dispatch.pump(),
      onEnd: (child, end) => {
        if (!closed) log.warn({ pid: child.pid, verdict: child.verdict, ...end }, "sandbox child ended");
        book.onEnd(child, end);
        dispatch.pump();
      },
    },
    now,
  );
  const dispatch = createDispatch(
    () => children,
    quarantine,
    (child, run) => child.start(run, ofEveryRun),
  );

  const isReady = () => children.workers.some((child) => child.ready && !child.ended);

  const tick = () => {
    const time = now();
    if (isReady()) upAt = time;
    else if (time - upAt >= limits.startPatienceMs) book.refuseWaiting("No sandbox process is up");
    for (const child of children.all()) {
      watchChild(child, limits, time);
      if (child.stalled && child.unbegun > 0) book.takeFrom(child, takeBack(child));
    }
    book.expire(time);
    dispatch.pump();
    if (book.active.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const run = (request: SandboxRequest) =>
    new Promise<SandboxOutcome>((finish) => {
      if (closed) return finish(stopped("interrupted", "The sandbox is closed", undefined));
      if (request.signal?.aborted) return finish(stopped("cancelled", "The caller left", undefined));
      if (request.argsJson.length > MAX_MESSAGE_CHARS || request.code.length > MAX_MESSAGE_CHARS) {
        return finish(stopped("memory", "The tool or its arguments are larger than its memory", undefined));
      }
      if (!mayTakeOne(book.runsOf(request.workspaceId), book.active.size, limits.activeRuns)) {
        const message = `More than the workspace's share of ${limits.activeRuns} runs at once`;
        return finish(stopped("overloaded", message, undefined));
      }
      dispatch.add(book.add(request, finish));
      dispatch.pump();
      if (timer !== undefined) return;
      upAt = now();
      timer = setInterval(tick, TICK_MS);
    });

  return {
    run,
    isReady,
    pids: () => children.all().flatMap((child) => child.pid ?? []),
    [Symbol.asyncDispose]: async () => {
      closed = true;
      clearInterval(timer);
      book.close();
      await children[Symbol.asyncDispose]();
    },
  };
}
