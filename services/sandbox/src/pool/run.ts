import { currentRequest, outsideRequest, type RequestScope, runForRequest } from "@toolgate/telemetry/request";
import type { SandboxOutcome, SandboxRequest, SandboxStop } from "../request.ts";

/** The part of a child that a run uses. */
type RunChild = {
  resolve(run: SandboxRun, callId: number, parts: readonly string[]): void;
  reject(run: SandboxRun, callId: number, message: string, name: string, code: string): void;
  cancel(ticket: number): void;
  mayHaveBegun(run: SandboxRun): boolean;
};

/**
 * A run from `pool.run` to its outcome. It is *waiting* until it is *placed* on a child, which may or may not have begun
 * it, and *ended* once its outcome is known.
 */
export class SandboxRun {
  readonly request: SandboxRequest;
  readonly deadline: number;
  readonly finish: (outcome: SandboxOutcome) => void;
  /** The request that the run was accepted in. */
  readonly #scope: RequestScope | undefined = currentRequest();
  readonly logs: string[] = [];
  state: "waiting" | "placed" | "ended" = "waiting";
  /** Since when it waits. */
  waitingSince: number;
  child: RunChild | undefined;
  ticket = 0;
  /** Host calls so far: once there is one, the run may have had effects and is never begun again. */
  hostCalls = 0;
  hostCallsUnderWay = 0;
  /** Aborts the host calls when the run ends. */
  hostCallsAbort: AbortController | undefined;
  /** A child lost it after beginning it. */
  wasLost = false;
  onAbort: (() => void) | undefined;

  constructor(request: SandboxRequest, now: number, finish: (outcome: SandboxOutcome) => void) {
    this.request = request;
    this.deadline = now + request.limits.wallMs;
    this.waitingSince = now;
    this.finish = finish;
  }

  /** Does work for the run in its own request, as messages, timers and ends of children belong to none. */
  inRequest<T>(work: () => T): T {
    return this.#scope === undefined ? outsideRequest(work) : runForRequest(this.#scope, work);
  }
}

export function stopped(kind: SandboxStop, message: string, run?: SandboxRun, cpuMs = 0): SandboxOutcome {
  return { kind, message, cpuMs, logs: run?.logs ?? [] };
}
