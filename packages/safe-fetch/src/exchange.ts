import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import { BodyCollector } from "./body-collector.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionFailure } from "./connection-failure.ts";
import { classifyFailure } from "./connection-failure.ts";
import type { Truncated } from "./result.ts";
import type { Stop } from "./stop.ts";

/** Most interim (1xx) responses before the final one. */
export const MAX_INTERIM_RESPONSES = 8;

/** The bounds of one exchange, in bytes. */
export type ExchangeLimits = { maxHeaderBytes: number; maxBodyBytes: number };

/** How one request over one connection ended; `firstByteMs` counts from handing it over. */
export type ExchangeOutcome = { firstByteMs: number | null } & (
  | { kind: "response"; status: number; headers: Record<string, string | string[]>; body: Buffer; truncated: Truncated }
  | { kind: "failed"; failure: ConnectionFailure; written: boolean; answered: boolean }
  | { kind: "stopped"; phase: "send" | "headers" }
);

/**
 * Sends one request over one connection and reads the response within its bounds. Never rejects. When it ends in any
 * way but with a whole response, the connection is closed.
 */
export function exchange(
  connection: Connection,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
  stop: Stop,
): Promise<ExchangeOutcome> {
  return new Promise((resolve) => {
    const reader = new ResponseReader(connection, limits.maxBodyBytes, (outcome) => {
      stop.onFire = undefined;
      resolve(outcome);
    });
    stop.onFire = () => reader.stop(stop.reason ?? "aborted");
    if (stop.reason !== undefined) return stop.onFire();
    connection.dispatch(request, reader, limits.maxHeaderBytes, limits.maxBodyBytes);
  });
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
  #head: { status: number; headers: Record<string, string | string[]> } | undefined;

  constructor(connection: Connection, maxBodyBytes: number, settle: (outcome: ExchangeOutcome) => void) {
    this.#connection = connection;
    this.#body = new BodyCollector(maxBodyBytes);
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) controller.abort(new Error("nobody waits any more"));
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
    if (status >= 200) this.#head = { status, headers: headers as Record<string, string | string[]> };
    else if (++this.#interim > MAX_INTERIM_RESPONSES) this.#fail("protocol", controller);
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
    controller?.abort(new Error("the rest of the body is not wanted"));
  }

  #fail(failure: ConnectionFailure, controller?: Dispatcher.DispatchController): void {
    const answered = this.#firstByteMs !== null;
    this.#end({ kind: "failed", failure, written: this.#written, answered, firstByteMs: this.#firstByteMs });
    controller?.abort(new Error("the response is not usable"));
  }

  #end(outcome: ExchangeOutcome): void {
    this.#settled = true;
    this.#settle(outcome);
  }
}
