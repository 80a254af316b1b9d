import { performance } from "node:perf_hooks";
import {
  classifyFailure,
  type FetchFailure,
  failureMessage,
  type Phase,
  type StopReason,
  type Timings,
} from "./result.ts";

/** How far a request has come: the phase under way, and the timings of those that are done. `signal` stops it. */
export class Progress {
  readonly signal: AbortSignal;
  phase: Phase = "dns";
  readonly timings: Timings = {
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
    totalMs: 0,
    address: null,
    reused: false,
  };
  readonly #began = performance.now();

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  elapsedMs(): number {
    return performance.now() - this.#began;
  }

  done(): Timings {
    this.timings.totalMs = this.elapsedMs();
    return this.timings;
  }

  /** The result of a request that was stopped, or that failed with this error. */
  failed(error: unknown): FetchFailure {
    const timings = this.done();
    if (!this.signal.aborted) {
      const code = this.phase === "dns" ? "dns" : classifyFailure(error, this.phase === "tls");
      return { kind: "connection-error", code, message: failureMessage(code), timings };
    }
    const reason: StopReason = this.signal.reason;
    return reason === "deadline" ? { kind: "timeout", phase: this.phase, timings } : { kind: "aborted", timings };
  }
}
