import { setTimeout as delay } from "node:timers/promises";
import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { CallBatch, ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { type CallHandler, DEFAULT_MAX_IN_FLIGHT, type ErrorListener } from "./call.ts";
import { ServedStream, type ServeLimits, type StreamContext } from "./served-stream.ts";

interface ServeOptions<I extends DescMessage, O extends DescMessage> {
  /** The unary RPC whose messages travel in the frames. */
  readonly method: DescMethodUnary<I, O>;
  readonly handler: CallHandler<MessageShape<I>, MessageShape<O>>;
  readonly limits?: Partial<ServeLimits>;
  /** Called with failures that callers see only as an opaque `internal`. */
  readonly onError: ErrorListener;
  /**
   * Aborting it drains: every stream announces `going_away`, finishes the calls that are open or on their way, and
   * ends. A client of this package sends its next calls elsewhere, so no call fails as long as the server keeps its
   * connections until `untilIdle`.
   */
  readonly drainSignal: AbortSignal;
}

const LIMITS: ServeLimits = {
  maxInFlight: DEFAULT_MAX_IN_FLIGHT,
  drainGraceMs: 2_000,
  // A stream's caller is checked when it opens: who opened one with a stolen credential, which is valid for a minute, cannot
  // keep it.
  maxAgeMs: 900_000,
};

/** The implementation of a bidirectional RPC of `CallBatch` and `ReplyBatch`. */
interface ServedCalls {
  serve(batches: AsyncIterable<CallBatch>, context: StreamContext): AsyncIterable<ReplyBatch>;
  /**
   * Resolves once the streams that are open now have ended; after `drainSignal`, no call is open or on its way then.
   * Resolves after `waitMs` at the latest: a frozen client never ends its stream.
   */
  untilIdle(waitMs: number): Promise<void>;
}

/**
 * Serves many calls per stream: replies leave in any order, batched per turn of the event loop.
 * A stream opens with an empty batch, which tells the client that it is up.
 */
export function serveCalls<I extends DescMessage, O extends DescMessage>({
  limits,
  ...options
}: ServeOptions<I, O>): ServedCalls {
  const open = new Set<Promise<void>>();
  return {
    serve(batches, context) {
      const replies = new ServedStream({ ...LIMITS, ...limits, ...options }, context).serve(batches);
      const ended = untilAborted(context.signal).then(() => void open.delete(ended));
      open.add(ended);
      return replies;
    },
    async untilIdle(waitMs) {
      await Promise.race([Promise.all(open), delay(waitMs, undefined, { ref: false })]);
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
