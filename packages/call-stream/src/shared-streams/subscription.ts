import type { ConnectError } from "@connectrpc/connect";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import { TAKEN_EVERY_BYTES } from "./limits.ts";

/** What carries a subscription. */
export interface Carrier {
  /** The reader has left before the end. */
  leave(subscription: Subscription<unknown>): void;
  taken(id: number, bytes: number): void;
}

interface Waiting<O> {
  resolve(result: IteratorResult<O>): void;
  reject(error: unknown): void;
}

/** The reader's side of one stream. It is small, because a gateway has one for each of its clients. */
export class Subscription<O> implements AsyncIterableIterator<O> {
  /** Chosen by the connection. */
  id = 0;
  /** Undefined while it waits for a connection. */
  carrier: Carrier | undefined;
  readonly rpc: string;
  /** Empty once it was sent. */
  request: Uint8Array;
  readonly principal: string;
  readonly requestId = currentRequestId();
  readonly trace = currentTrace();
  readonly #decode: (message: Uint8Array) => O;
  readonly #signal: AbortSignal | undefined;
  #messages: Uint8Array[] = [];
  #taken = 0;
  #waiting: Waiting<O> | undefined;
  #ended = false;
  #error: ConnectError | undefined;

  constructor(
    call: { rpc: string; request: Uint8Array; principal: string; signal: AbortSignal | undefined },
    decode: (message: Uint8Array) => O,
  ) {
    this.rpc = call.rpc;
    this.request = call.request;
    this.principal = call.principal;
    this.#signal = call.signal;
    this.#decode = decode;
    call.signal?.addEventListener("abort", this);
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<O>> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<O>> {
    if (!this.#ended) {
      this.end(undefined);
      this.carrier?.leave(this as Subscription<unknown>);
    }
    this.#messages = [];
    return Promise.resolve({ done: true, value: undefined });
  }

  /** The caller's signal fired. */
  handleEvent(): void {
    void this.return();
  }

  receive(message: Uint8Array): void {
    if (this.#ended) return;
    this.#messages.push(message);
    this.#deliver();
  }

  /** What was received before is still delivered. */
  end(error: ConnectError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#signal?.removeEventListener("abort", this);
    this.#deliver();
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const message = this.#messages.shift();
    if (message === undefined && !this.#ended) return;
    this.#waiting = undefined;
    if (message !== undefined) {
      this.#countTaken(message.byteLength);
      waiting.resolve({ done: false, value: this.#decode(message) });
    } else if (this.#error) waiting.reject(this.#error);
    else waiting.resolve({ done: true, value: undefined });
  }

  #countTaken(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < TAKEN_EVERY_BYTES || this.#ended) return;
    this.carrier?.taken(this.id, this.#taken);
    this.#taken = 0;
  }
}
