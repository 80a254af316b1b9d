import { currentRequest, outsideRequest, type RequestScope, runForRequest } from "@toolgate/telemetry/request";
import type { SandboxOutcome, SandboxRequest, SandboxStop } from "../request.ts";
import { ResultPacer } from "./result-pacer.ts";

/** The part of a child that a run uses. */
export type RunChild = {
  resolve(run: SandboxRun, callId: number, parts: readonly string[]): void;
  reject(run: SandboxRun, callId: number, message: string, name: string, code: string): void;
  cancel(ticket: number): void;
};

/**
 * A run from `pool.run` to its outcome. It is *waiting* until it is *placed* on a child, which may or may not have begun
 * it, and *ended* once its outcome is known. Only `RunRegistry` changes its state.
 */
export class SandboxRun {
  readonly request: SandboxRequest;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly finish: (outcome: SandboxOutcome) => void;
  readonly results: ResultPacer;
  /** The request that the run was accepted in. */
  readonly #scope: RequestScope | undefined = currentRequest();
  readonly logs: string[] = [];
  state: "waiting" | "placed" | "ended" = "waiting";
  child: RunChild | undefined;
  ticket = 0;
  /** Host calls so far: once there is one, the run may have had effects and is never begun again. */
  hostCalls = 0;
  hostCallsUnderWay = 0;
  /** CPU time that its workspace has been charged for. */
  cpuMsCharged = 0;
  /** Aborts the host calls when the run ends. */
  hostCallsAbort: AbortController | undefined;
  /** How often a child lost the run after beginning it. */
  timesLost = 0;
  /** How often it was moved from a child that had not begun it. */
  timesMoved = 0;
  onAbort: (() => void) | undefined;

  constructor(
    request: SandboxRequest,
    now: number,
    hostResultChars: number,
    finish: (outcome: SandboxOutcome) => void,
  ) {
    this.request = request;
    this.acceptedAt = now;
    this.deadline = now + request.limits.wallMs;
    this.finish = finish;
    this.results = new ResultPacer(hostResultChars);
  }

  /** Does work for the run in its own request, as messages, timers and ends of children belong to none. */
  inRequest<T>(work: () => T): T {
    return this.#scope === undefined ? outsideRequest(work) : runForRequest(this.#scope, work);
  }
}

export function stopped(kind: SandboxStop, message: string, run?: SandboxRun, cpuMs = 0): SandboxOutcome {
  return { kind, message, cpuMs, logs: run?.logs ?? [] };
}
