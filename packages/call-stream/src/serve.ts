import { setTimeout as delay } from "node:timers/promises";
import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { CallBatch, ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import type { CallHandler } from "./call.ts";
import type { ErrorListener } from "./failure.ts";
import {
  DEFAULT_DRAIN_GRACE_MS,
  DEFAULT_MAX_IN_FLIGHT,
  DEFAULT_MAX_STREAM_AGE_MS,
  DEFAULT_MAX_TIMEOUT_MS,
} from "./limits.ts";
import { ServedStream, type StreamContext } from "./served-stream.ts";

/** Limits on each stream that a server accepts. */
export type ServeLimits = {
  /** Handlers running at a time per stream; further calls fail with `resource_exhausted`. Default 4096. */
  readonly maxInFlight?: number;
  /** Upper bound of every call's deadline in milliseconds. Default 10 minutes. */
  readonly maxTimeoutMs?: number;
  /** Milliseconds after `drainSignal` during which calls already in transit are still accepted. Default 2 s. */
  readonly drainGraceMs?: number;
  /** Milliseconds after which a stream takes no more calls; its client opens another. Default 15 minutes. */
  readonly maxAgeMs?: number;
};

type ServeOptions<I extends DescMessage, O extends DescMessage> = {
  /** The unary RPC whose messages travel in the frames. */
  readonly method: DescMethodUnary<I, O>;
  readonly handler: CallHandler<MessageShape<I>, MessageShape<O>>;
  readonly limits?: ServeLimits;
  /** Called with failures that callers see only as an opaque `internal`. */
  readonly onError: ErrorListener;
  /**
   * Aborting it drains: every stream announces `going_away`, finishes the calls that are open or on their way, and
   * ends. A client of this package sends its next calls elsewhere, so no call fails as long as the server keeps its
   * connections until `untilIdle`.
   */
  readonly drainSignal?: AbortSignal;
};

/** The implementation of a bidirectional RPC of `CallBatch` and `ReplyBatch`, as the Connect router takes it. */
export type ServedCalls = {
  (batches: AsyncIterable<CallBatch>, context: StreamContext): AsyncIterable<ReplyBatch>;
  /**
   * Resolves once the streams that are open now have ended; after `drainSignal`, no call is open or on its way then.
   * Resolves after `waitMs` at the latest: a frozen client never ends its stream.
   */
  untilIdle(waitMs: number): Promise<void>;
};

/**
 * Serves many calls per stream: each has its own deadline and cancellation, replies leave in any order, batched per
 * turn of the event loop. A stream opens with an empty batch, which tells the client that it is up.
 *
 * The server stops reading from a slow client while more than `maxInFlight` replies or 16 MiB wait for it.
 */
export function serveCalls<I extends DescMessage, O extends DescMessage>(options: ServeOptions<I, O>): ServedCalls {
  const { method, handler, limits = {}, onError, drainSignal } = options;
  const settings = {
    method,
    handler,
    onError,
    drainSignal,
    maxInFlight: limits.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT,
    maxTimeoutMs: limits.maxTimeoutMs ?? DEFAULT_MAX_TIMEOUT_MS,
    drainGraceMs: limits.drainGraceMs ?? DEFAULT_DRAIN_GRACE_MS,
    maxAgeMs: limits.maxAgeMs ?? DEFAULT_MAX_STREAM_AGE_MS,
  };
  const open = new Set<Promise<void>>();
  const serve = (batches: AsyncIterable<CallBatch>, context: StreamContext) => {
    const replies = new ServedStream(settings, context).serve(batches);
    const over = untilAborted(context.signal).then(() => void open.delete(over));
    open.add(over);
    return replies;
  };
  return Object.assign(serve, { untilIdle: (waitMs: number) => withinTime(Promise.all(open), waitMs) });
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function withinTime(work: Promise<unknown>, waitMs: number): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, delay(waitMs, undefined, { signal: done.signal }).catch(() => undefined)]);
  done.abort();
}
