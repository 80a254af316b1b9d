import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { callStreamInFlight } from "@toolgate/telemetry/instruments";
import type { AddressResolver } from "./addresses.ts";
import type { Call, CallOptions } from "./call.ts";
import { neverSentError, refusalOf } from "./call.ts";
import { StreamCaller } from "./caller.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";
import type { ErrorListener } from "./failure.ts";
import { callerGone, deadlineExceeded } from "./failure.ts";
import {
  DEFAULT_MAX_IN_FLIGHT,
  DEFAULT_MAX_WAIT_MS,
  DEFAULT_RESOLVE_EVERY_MS,
  MAX_MESSAGE_BYTES,
  MAX_UNSENT_REQUEST_BYTES,
} from "./limits.ts";
import type { StreamMethod } from "./stream-connection.ts";
import type { Reconnect } from "./stream-pool.ts";
import { StreamPool } from "./stream-pool.ts";

type CallStreamOptions<I extends DescMessage, O extends DescMessage> = {
  /** The unary RPC whose messages travel in the frames. */
  readonly method: DescMethodUnary<I, O>;
  /** The bidirectional RPC of the same service that carries them. */
  readonly streamMethod: StreamMethod;
  /** Base URLs, one per server process. Called at the start, regularly, and when a stream is lost. */
  readonly addresses: AddressResolver;
  /** A transport for one stream to an address, disposed when the stream ends. Usually `streamTransport`. */
  readonly transportFor: (address: string) => Transport & Partial<Disposable>;
  /** Open calls at a time, including those that wait for a stream; further ones fail. Default 4096. */
  readonly maxInFlight?: number;
  readonly reconnect: Reconnect;
  /** Milliseconds that a call waits, within its timeout, while no stream is up. Default 10 s. */
  readonly maxWaitMs?: number;
  /** Milliseconds between two lookups of the addresses. Default 5 s. */
  readonly resolveEveryMs?: number;
  /** Called with the reason why a stream was lost or a lookup failed, for the log; the client recovers without help. */
  readonly onError: ErrorListener;
};

/** Disposing it fails the open calls with `unavailable`, ends the streams and closes their connections. */
export type CallStream<I, O> = AsyncDisposable & { readonly call: Call<I, O> };

/**
 * A `Call` over long-lived streams, one per server address. Each call goes to the less busy of two streams picked at
 * random. While no stream is up, calls wait for one, at most `maxWaitMs`, then they fail with `unavailable`, never
 * sent. A stream that announces its end gets no new calls and finishes its open ones. When a stream is lost, its open
 * calls fail immediately with `unavailable`; calls that were not sent yet move to another stream.
 */
export function createCallStream<I extends DescMessage, O extends DescMessage>(
  options: CallStreamOptions<I, O>,
): CallStream<MessageShape<I>, MessageShape<O>> {
  const client = new CallStreamClient(options);
  return {
    call: (request, callOptions) => client.call(request, callOptions),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** A call that waits for a stream, and for how long. */
type Wait<O> = { readonly caller: StreamCaller<O>; readonly deadlineMs: number };

class CallStreamClient<I extends DescMessage, O extends DescMessage> {
  readonly #method: DescMethodUnary<I, O>;
  readonly #maxInFlight: number;
  readonly #maxWaitMs: number;
  readonly #pool: StreamPool<MessageShape<O>>;
  readonly #open = new Set<StreamCaller<MessageShape<O>>>();
  readonly #sweep = new DeadlineSweep(
    () => this.#open,
    (caller) => this.#abandon(caller, deadlineExceeded()),
  );
  readonly #onCancel = (caller: StreamCaller<MessageShape<O>>) => this.#abandon(caller, callerGone());
  /** Calls that no stream has, in the order of their arrival. */
  readonly #waiting = new Map<StreamCaller<MessageShape<O>>, Wait<MessageShape<O>>>();
  readonly #waitSweep = new DeadlineSweep(
    () => this.#waiting.values(),
    ({ caller }) => this.#abandon(caller, new ConnectError("no server is reachable", Code.Unavailable)),
  );
  readonly #inFlight: Disposable;
  #unsentBytes = 0;
  #closed: Promise<void> | undefined;

  constructor(options: CallStreamOptions<I, O>) {
    this.#method = options.method;
    this.#maxInFlight = options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT;
    this.#maxWaitMs = options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS;
    const { parent, name } = options.streamMethod;
    this.#inFlight = callStreamInFlight.observe(() => [[this.#open.size, { rpc: `${parent.typeName}/${name}` }]]);
    this.#pool = new StreamPool({
      ...options,
      resolveEveryMs: options.resolveEveryMs ?? DEFAULT_RESOLVE_EVERY_MS,
      decode: (response) => fromBinary(options.method.output, response),
      onUp: () => this.#dispatchWaiting(),
      onUnsent: (callers) => {
        for (const caller of callers) this.#dispatch(caller);
      },
      onSent: (caller) => {
        this.#unsentBytes -= caller.request.byteLength;
      },
      onEnded: (caller) => this.#forget(caller),
    });
  }

  call(request: MessageShape<I>, options: CallOptions): Promise<MessageShape<O>> {
    const refusal = this.#refusal() ?? refusalOf(options, this.#open.size, this.#maxInFlight);
    if (refusal !== undefined) return Promise.reject(refusal);
    let bytes: Uint8Array;
    try {
      bytes = toBinary(this.#method.input, request);
    } catch (error) {
      return Promise.reject(neverSentError("the request cannot be encoded", Code.Internal, error));
    }
    if (bytes.byteLength > MAX_MESSAGE_BYTES) {
      return Promise.reject(neverSentError("the request is too large", Code.ResourceExhausted));
    }
    const caller = new StreamCaller<MessageShape<O>>(bytes, options, this.#onCancel);
    this.#open.add(caller);
    this.#unsentBytes += bytes.byteLength;
    this.#sweep.start();
    this.#dispatch(caller);
    return caller.promise;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const caller of this.#open) this.#abandon(caller, new ConnectError("the client is closed", Code.Unavailable));
    this.#inFlight[Symbol.dispose]();
    this.#sweep.stop();
    this.#waitSweep.stop();
    await this.#pool.close();
  }

  #refusal(): ConnectError | undefined {
    if (this.#closed !== undefined) return neverSentError("the client is closed", Code.Unavailable);
    if (this.#unsentBytes > MAX_UNSENT_REQUEST_BYTES) {
      return neverSentError("too many requests wait to be sent", Code.ResourceExhausted);
    }
    return undefined;
  }

  #dispatch(caller: StreamCaller<MessageShape<O>>): void {
    const connection = this.#pool.choose();
    if (connection !== undefined) connection.send(caller);
    else {
      caller.connection = undefined;
      this.#waiting.set(caller, { caller, deadlineMs: performance.now() + this.#maxWaitMs });
      this.#waitSweep.start();
    }
  }

  #dispatchWaiting(): void {
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    for (const caller of waiting) this.#dispatch(caller);
  }

  #abandon(caller: StreamCaller<MessageShape<O>>, error: ConnectError): void {
    this.#forget(caller);
    this.#waiting.delete(caller);
    caller.fail(caller.sent ? error : neverSentError(error.rawMessage, error.code));
    caller.connection?.forget(caller);
  }

  #forget(caller: StreamCaller<MessageShape<O>>): void {
    this.#open.delete(caller);
    this.#unsentBytes -= caller.request.byteLength;
  }
}
