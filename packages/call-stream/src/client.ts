import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { callStreamInFlight } from "@toolgate/telemetry/instruments";
import {
  type Call,
  type CallOptions,
  DEFAULT_MAX_IN_FLIGHT,
  MAX_MESSAGE_BYTES,
  neverSentError,
  refusalOf,
} from "./call.ts";
import { StreamCaller } from "./caller.ts";
import { StreamPool, type StreamPoolOptions } from "./stream-pool.ts";

interface CallStreamOptions<I extends DescMessage, O extends DescMessage>
  extends Omit<StreamPoolOptions<MessageShape<O>>, "decode" | "onUp"> {
  /** The unary RPC whose messages travel in the frames. */
  readonly method: DescMethodUnary<I, O>;
  /** Open calls at a time, including those that wait for a stream; further ones fail. */
  readonly maxInFlight?: number;
  /** How long a call waits, within its timeout, while no stream is up. */
  readonly maxWaitMs?: number;
}

const MAX_WAIT_MS = 10_000;
/** Requests of one client that wait for a stream or for a slow server. */
const MAX_UNSENT_REQUEST_BYTES = 64 * 1024 * 1024;

/** Disposing it fails the open calls with `unavailable`, ends the streams and closes their connections. */
export type CallStream<I, O> = AsyncDisposable & { readonly call: Call<I, O> };

/**
 * A `Call` over long-lived streams, one per server address. Each call goes to the less busy of two streams picked at
 * random. While no stream is up, calls wait for one, at most `maxWaitMs`, then they fail with `unavailable`, never
 * sent. A stream that announces its end gets no new calls and finishes its open ones. When a stream is lost, its open
 * calls fail immediately with `unavailable`.
 */
export function createCallStream<I extends DescMessage, O extends DescMessage>(
  options: CallStreamOptions<I, O>,
): CallStream<MessageShape<I>, MessageShape<O>> {
  type Caller = StreamCaller<MessageShape<O>>;
  const { method, maxInFlight = DEFAULT_MAX_IN_FLIGHT, maxWaitMs = MAX_WAIT_MS, ...streams } = options;
  const open = new Set<Caller>();
  /** Calls that no stream has, in the order of their arrival. */
  const waiting = new Set<Caller>();
  let unsentBytes = 0;
  let closed: Promise<void> | undefined;
  const pool = new StreamPool({
    ...streams,
    decode: (response) => fromBinary(method.output, response),
    onUp() {
      for (const caller of waiting) pool.choose()?.send(caller);
      waiting.clear();
    },
  });
  const inFlight = callStreamInFlight.observe(() => [[open.size, { rpc: pool.rpc }]]);

  const events = {
    onReleased(bytes: number) {
      unsentBytes -= bytes;
    },
    onEnd(caller: Caller) {
      open.delete(caller);
      waiting.delete(caller);
    },
  };

  function refusal(callOptions: CallOptions): ConnectError | undefined {
    if (closed) return neverSentError("the client is closed", Code.Unavailable);
    if (unsentBytes > MAX_UNSENT_REQUEST_BYTES) {
      return neverSentError("too many requests wait to be sent", Code.ResourceExhausted);
    }
    return refusalOf(callOptions, open.size, maxInFlight);
  }

  function call(request: MessageShape<I>, callOptions: CallOptions): Promise<MessageShape<O>> {
    const refused = refusal(callOptions);
    if (refused) return Promise.reject(refused);
    let bytes: Uint8Array;
    try {
      bytes = toBinary(method.input, request);
    } catch (error) {
      return Promise.reject(neverSentError("the request cannot be encoded", Code.Internal, error));
    }
    if (bytes.byteLength > MAX_MESSAGE_BYTES) {
      return Promise.reject(neverSentError("the request is too large", Code.ResourceExhausted));
    }
    const caller: Caller = new StreamCaller(bytes, callOptions, events);
    unsentBytes += bytes.byteLength;
    open.add(caller);
    const stream = pool.choose();
    if (stream) stream.send(caller);
    else {
      waiting.add(caller);
      caller.waitAtMost(maxWaitMs);
    }
    return caller.reply.promise;
  }

  function close(): Promise<void> {
    for (const caller of open) caller.abandon(new ConnectError("the client is closed", Code.Unavailable));
    inFlight[Symbol.dispose]();
    return pool.close();
  }

  return {
    call,
    [Symbol.asyncDispose]() {
      closed ??= close();
      return closed;
    },
  };
}
