import { performance } from "node:perf_hooks";
import type { ConnectionFailure, FetchFailure, Phase, Timings } from "./result.ts";
import { failureMessage } from "./result.ts";

/** Collects the timings of one request, and makes the results that have nothing else. */
export class TimingLog {
  readonly #began = performance.now();
  readonly timings: Timings = {
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
    totalMs: 0,
    address: null,
    reused: false,
  };

  elapsedMs(): number {
    return performance.now() - this.#began;
  }

  done(): Timings {
    this.timings.totalMs = this.elapsedMs();
    return this.timings;
  }

  stopped(reason: "deadline" | "aborted" | undefined, phase: Phase): FetchFailure {
    const timings = this.done();
    return reason === "deadline" ? { kind: "timeout", phase, timings } : { kind: "aborted", timings };
  }

  failed(code: ConnectionFailure): FetchFailure {
    return { kind: "connection-error", code, message: failureMessage(code), timings: this.done() };
  }
}
