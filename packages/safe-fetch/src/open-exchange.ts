import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import type { Connection } from "./connection.ts";
import type { FailedExchange, ResponseHead, Stop } from "./exchange.ts";
import { MAX_INTERIM_RESPONSES } from "./exchange.ts";
import type { ConnectionFailure, Truncated } from "./result.ts";
import { classifyFailure } from "./result.ts";

/** Body bytes that wait for the reader before reading from the connection stops. */
const MAX_WAITING_BYTES = 65_536;

/** Why a streamed body ended early. */
export class BodyCut extends Error {
  readonly reason: Exclude<Truncated, false>;

  constructor(reason: Exclude<Truncated, false>) {
    super(`the body is incomplete: ${reason}`);
    this.name = "BodyCut";
    this.reason = reason;
  }
}

/** Told about the progress of the body: a byte came, the reader is slow, the reader reads again, the body has ended. */
export type BodyWatch = { onData(): void; onPause(): void; onResume(): void; onEnd(whole: boolean): void };

export type OpenOutcome =
  | FailedExchange
  | ({ kind: "response"; body: ReadableStream<Uint8Array>; firstByteMs: number | null } & ResponseHead);

/**
 * Sends one request over one connection, and resolves with the response's head and its body as a stream. Never rejects.
 * The body's stream fails with a BodyCut when the body is incomplete. Cancelling it, and `stop`, close the connection.
 */
export function openExchange(
  connection: Connection,
  request: Dispatcher.DispatchOptions,
  limits: { maxHeaderBytes: number; maxBodyBytes: number },
  stop: Stop,
  watch: BodyWatch,
): Promise<OpenOutcome> {
  return new Promise((resolve) => {
    const reader = new BodyReader(connection, limits.maxBodyBytes, watch, resolve);
    stop.onFire(() => reader.stop(stop.reason ?? "aborted"));
    if (stop.reason !== undefined) return reader.stop(stop.reason);
    connection.dispatch(request, reader, limits.maxHeaderBytes, limits.maxBodyBytes);
  });
}

class BodyReader implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #watch: BodyWatch;
  readonly #settle: (outcome: OpenOutcome) => void;
  readonly #began = performance.now();
  #leftBytes: number;
  #firstByteMs: number | null = null;
  #written = false;
  #ended = false;
  #interim = 0;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(connection: Connection, maxBytes: number, watch: BodyWatch, settle: (outcome: OpenOutcome) => void) {
    this.#connection = connection;
    this.#leftBytes = maxBytes;
    this.#watch = watch;
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
    if (status < 200) {
      if (++this.#interim > MAX_INTERIM_RESPONSES) this.#fail("protocol");
      return;
    }
    const body = new ReadableStream<Uint8Array>(
      {
        start: (stream) => {
          this.#body = stream;
        },
        pull: () => {
          if (this.#ended || !controller.paused) return;
          controller.resume();
          this.#watch.onResume();
        },
        cancel: () => this.#end(false),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
    );
    const head = { status, headers: headers as Record<string, string | string[]> };
    this.#settle({ kind: "response", ...head, body, firstByteMs: this.#firstByteMs });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#leftBytes -= chunk.length;
    if (this.#leftBytes < 0) {
      this.#cut("size");
      return;
    }
    this.#watch.onData();
    this.#body?.enqueue(chunk);
    if ((this.#body?.desiredSize ?? 0) > 0) return;
    controller.pause();
    this.#watch.onPause();
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    this.#body?.close();
    this.#end(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return;
    if (this.#body !== undefined) this.#cut("connection");
    else this.#fail(classifyFailure(error, false));
  }

  stop(reason: "deadline" | "aborted"): void {
    if (this.#ended) return;
    if (this.#body !== undefined) {
      this.#cut(reason);
      return;
    }
    const phase = this.#connection.isSending() ? "send" : "headers";
    this.#settle({ kind: "stopped", phase, firstByteMs: this.#firstByteMs });
    this.#end(false);
  }

  #cut(reason: Exclude<Truncated, false>): void {
    this.#body?.error(new BodyCut(reason));
    this.#end(false);
  }

  #fail(failure: ConnectionFailure): void {
    const responseBegan = this.#firstByteMs !== null;
    this.#settle({ kind: "failed", failure, written: this.#written, responseBegan, firstByteMs: this.#firstByteMs });
    this.#end(false);
  }

  /** An incomplete body leaves a connection that cannot be used again. */
  #end(whole: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!whole) this.#connection.close();
    if (this.#body !== undefined) this.#watch.onEnd(whole);
  }
}
