import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import type { Connection } from "./connection.ts";
import { type ConnectionFailure, classifyFailure, type Truncated } from "./result.ts";
import type { Stop, StopReason } from "./stop.ts";

/** At most this many interim (1xx) responses are accepted before the final one. */
const MAX_INTERIM_RESPONSES = 8;

/** The bounds of one exchange, in bytes. */
type ExchangeLimits = { maxHeaderBytes: number; maxBodyBytes: number };

/** The status line and header block of a response. */
export type ResponseHead = { status: number; headers: Record<string, string | string[]> };

/** How one request over one connection ended; `firstByteMs` counts from handing it over. The body of a response follows. */
export type ExchangeOutcome = { firstByteMs: number | null } & (
  | ({ kind: "response" } & ResponseHead)
  | { kind: "failed"; failure: ConnectionFailure; written: boolean; responseBegan: boolean }
  | { kind: "stopped"; phase: "send" | "headers" }
);

/** How the reader of a body resumes a paused response, and gives up the rest of it. */
export type BodyFlow = { /** False when it was not paused. */ resume(): boolean; cancel(): void };

/** Takes the body of a response as it arrives. */
export type BodyReader = {
  /** The final head has arrived. */
  onHead(flow: BodyFlow): void;
  /** False: pauses until `resume`. */
  onData(chunk: Buffer): boolean;
  /** Called once after `onHead`: the body is complete, or was cut for this reason. */
  onEnd(truncated: Truncated): void;
};

/**
 * Sends one request over one connection and reads the response within its bounds. Resolves with its head, or why there is
 * none; never rejects. Unless the body is read to its end, the connection is closed.
 */
export function exchange(
  connection: Connection,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
  stop: Stop,
  body: BodyReader,
): Promise<ExchangeOutcome> {
  return new Promise((resolve) => {
    const handler = new ResponseHandler(connection, limits.maxBodyBytes, body, resolve);
    stop.onFire(() => handler.stop(stop.reason ?? "aborted"));
    if (stop.reason !== undefined) return handler.stop(stop.reason);
    connection.dispatch(request, handler, limits.maxHeaderBytes, limits.maxBodyBytes);
  });
}

class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #body: BodyReader;
  readonly #settle: (outcome: ExchangeOutcome) => void;
  readonly #began = performance.now();
  #leftBytes: number;
  #firstByteMs: number | null = null;
  #written = false;
  #hasHead = false;
  #ended = false;
  #interim = 0;

  constructor(
    connection: Connection,
    maxBodyBytes: number,
    body: BodyReader,
    settle: (outcome: ExchangeOutcome) => void,
  ) {
    this.#connection = connection;
    this.#leftBytes = maxBodyBytes;
    this.#body = body;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended) controller.abort(new Error("the request has ended"));
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
    if (this.#ended) return;
    if (status < 200) {
      if (++this.#interim > MAX_INTERIM_RESPONSES) this.#fail("protocol");
      return;
    }
    this.#hasHead = true;
    this.#body.onHead({
      resume: () => {
        if (this.#ended || !controller.paused) return false;
        controller.resume();
        return true;
      },
      cancel: () => this.#end("aborted"),
    });
    const head = { status, headers: headers as ResponseHead["headers"] };
    this.#settle({ kind: "response", ...head, firstByteMs: this.#firstByteMs });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    const fits = chunk.length <= this.#leftBytes;
    const wantsMore = this.#body.onData(fits ? chunk : chunk.subarray(0, this.#leftBytes));
    this.#leftBytes -= chunk.length;
    if (!fits) this.#end("size");
    else if (!wantsMore) controller.pause();
  }

  onResponseEnd(): void {
    this.#end(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return;
    if (this.#hasHead) this.#end("connection");
    else this.#fail(classifyFailure(error, false));
  }

  stop(reason: StopReason): void {
    if (this.#ended) return;
    if (!this.#hasHead) {
      const phase = this.#connection.isSending() ? "send" : "headers";
      this.#settle({ kind: "stopped", phase, firstByteMs: this.#firstByteMs });
    }
    this.#end(reason);
  }

  #fail(failure: ConnectionFailure): void {
    const responseBegan = this.#firstByteMs !== null;
    this.#settle({ kind: "failed", failure, written: this.#written, responseBegan, firstByteMs: this.#firstByteMs });
    this.#end("connection");
  }

  /** An incomplete body leaves a connection that cannot be used again. */
  #end(truncated: Truncated): void {
    if (this.#ended) return;
    this.#ended = true;
    if (truncated !== false) this.#connection.close();
    if (this.#hasHead) this.#body.onEnd(truncated);
  }
}
