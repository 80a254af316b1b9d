import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import type { Connection } from "./connection.ts";
import { type ConnectionFailure, classifyFailure, type Truncated } from "./result.ts";

/** At most this many interim (1xx) responses are accepted before the final one. */
export const MAX_INTERIM_RESPONSES = 8;
const FIRST_ALLOCATION_BYTES = 1_024;

/** The bounds of one exchange, in bytes; and how many milliseconds the body may take after the headers. */
type ExchangeLimits = { maxHeaderBytes: number; maxBodyBytes: number; bodyDeadlineMs?: number | undefined };

/** How one request over one connection ended without a response; `firstByteMs` counts from handing it over. */
export type FailedExchange = { firstByteMs: number | null } & (
  | { kind: "failed"; failure: ConnectionFailure; written: boolean; responseBegan: boolean }
  | { kind: "stopped"; phase: "send" | "headers" }
);

/** The status line and header block of a response. */
export type ResponseHead = { status: number; headers: Record<string, string | string[]> };

type ExchangeOutcome =
  | FailedExchange
  | ({ kind: "response"; body: Buffer; truncated: Truncated; firstByteMs: number | null } & ResponseHead);

/**
 * Sends one request over one connection and reads the response within its bounds. Never rejects. Unless it ends with a
 * complete response, the connection is closed.
 */
export function exchange(
  connection: Connection,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
  stop: Stop,
): Promise<ExchangeOutcome> {
  return new Promise((resolve) => {
    const reader = new ResponseReader(connection, limits, (outcome) => {
      stop.onFire(undefined);
      resolve(outcome);
    });
    stop.onFire(() => reader.stop(stop.reason ?? "aborted"));
    if (stop.reason !== undefined) return reader.stop(stop.reason);
    connection.dispatch(request, reader, limits.maxHeaderBytes, limits.maxBodyBytes);
  });
}

/** Why a send has to end early. */
export type StopReason = "deadline" | "aborted";

/**
 * Ends a send early: fired once, by the deadline or by the caller. Each step checks `reason` before it begins, and says
 * with `onFire` how it is cancelled.
 */
export class Stop {
  reason: StopReason | undefined = undefined;
  #cancel: (() => void) | undefined = undefined;

  /**
   * What `fire` does, in place of what it would have done before. Not a property for callers: V8 puts a function that is
   * assigned to a property into the old generation at once, and the request and response that it refers to with it.
   */
  onFire(cancel: (() => void) | undefined): void {
    this.#cancel = cancel;
  }

  /** Ends the send; later calls change nothing. */
  fire(reason: StopReason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.#cancel?.();
  }

  /** The value of a step that cannot be cancelled, or undefined as soon as this fires. The step must not reject. */
  before<T>(step: Promise<T>): Promise<T | undefined> {
    if (this.reason !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.onFire(() => resolve(undefined));
      void step.then(resolve);
    });
  }
}

class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #body: BodyCollector;
  readonly #settle: (outcome: ExchangeOutcome) => void;
  readonly #began = performance.now();
  #firstByteMs: number | null = null;
  #written = false;
  #settled = false;
  #interim = 0;
  #head: ResponseHead | undefined;
  readonly #bodyDeadlineMs: number | undefined;
  #bodyTimer: NodeJS.Timeout | undefined;

  constructor(connection: Connection, limits: ExchangeLimits, settle: (outcome: ExchangeOutcome) => void) {
    this.#connection = connection;
    this.#body = new BodyCollector(limits.maxBodyBytes);
    this.#bodyDeadlineMs = limits.bodyDeadlineMs;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) controller.abort(new Error("the send has ended"));
    else this.#written = true;
  }

  onResponseStarted(): void {
    this.#firstByteMs ??= performance.now() - this.#began;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status >= 200) {
      this.#head = { status, headers: headers as Record<string, string | string[]> };
      if (this.#bodyDeadlineMs !== undefined)
        this.#bodyTimer = setTimeout(() => this.stop("deadline"), this.#bodyDeadlineMs);
    } else if (++this.#interim > MAX_INTERIM_RESPONSES) this.#fail("protocol", controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body.push(chunk)) this.#respond("size", controller);
  }

  onResponseEnd(): void {
    this.#respond(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#settled) return;
    if (this.#head !== undefined) this.#respond("connection");
    else this.#fail(classifyFailure(error, false));
  }

  stop(reason: "deadline" | "aborted"): void {
    if (this.#settled) return;
    const phase = this.#connection.isSending() ? "send" : "headers";
    if (this.#head !== undefined) this.#respond(reason);
    else this.#end({ kind: "stopped", phase, firstByteMs: this.#firstByteMs });
    this.#connection.close();
  }

  #respond(truncated: Truncated, controller?: Dispatcher.DispatchController): void {
    if (this.#settled || this.#head === undefined) return;
    const body = this.#body.bytes();
    this.#end({ kind: "response", ...this.#head, body, truncated, firstByteMs: this.#firstByteMs });
    controller?.abort(new Error("the body is longer than allowed"));
  }

  #fail(failure: ConnectionFailure, controller?: Dispatcher.DispatchController): void {
    const responseBegan = this.#firstByteMs !== null;
    this.#end({ kind: "failed", failure, written: this.#written, responseBegan, firstByteMs: this.#firstByteMs });
    controller?.abort(new Error("the response is not usable"));
  }

  #end(outcome: ExchangeOutcome): void {
    this.#settled = true;
    clearTimeout(this.#bodyTimer);
    this.#settle(outcome);
  }
}

/**
 * Collects a body up to a limit, into one buffer that doubles: many tiny chunks cost no more than one large one.
 */
class BodyCollector {
  readonly #maxBytes: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes what fits; false when the body is longer than the limit. */
  push(chunk: Uint8Array): boolean {
    const wanted = Math.min(chunk.length, this.#maxBytes - this.#length);
    this.#reserve(this.#length + wanted);
    this.#buffer.set(wanted === chunk.length ? chunk : chunk.subarray(0, wanted), this.#length);
    this.#length += wanted;
    return wanted === chunk.length;
  }

  /** What was collected. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const size = Math.min(this.#maxBytes, Math.max(bytes, 2 * this.#buffer.length, FIRST_ALLOCATION_BYTES));
    const grown = Buffer.allocUnsafe(size);
    grown.set(this.bytes());
    this.#buffer = grown;
  }
}
