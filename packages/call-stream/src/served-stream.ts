import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallBatch, ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { runForRequest } from "@toolgate/telemetry/request";
import { isRequestId } from "@toolgate/telemetry/request-id";
import { spanOf } from "@toolgate/telemetry/trace";
import type { CallHandler } from "./call.ts";
import { ServedCall } from "./caller.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";
import type { ErrorListener } from "./failure.ts";
import { callerGone, deadlineExceeded, publicError, toFailure } from "./failure.ts";
import { MAX_MESSAGE_BYTES } from "./limits.ts";
import { observeRpc } from "./measure.ts";
import { ReplyQueue } from "./reply-queue.ts";

type ServedStreamSettings<I extends DescMessage, O extends DescMessage> = {
  readonly method: DescMethodUnary<I, O>;
  readonly handler: CallHandler<MessageShape<I>, MessageShape<O>>;
  readonly onError: ErrorListener;
  readonly drainSignal: AbortSignal | undefined;
  readonly maxInFlight: number;
  readonly maxTimeoutMs: number;
  readonly drainGraceMs: number;
  readonly maxAgeMs: number;
};

/** What a server knows about a stream. */
export type StreamContext = {
  /** Aborts when the stream ends, for any reason. */
  readonly signal: AbortSignal;
  /** The service that has opened it. */
  readonly caller: string;
};

/** The server's side of one stream. */
export class ServedStream<I extends DescMessage, O extends DescMessage> {
  readonly #settings: ServedStreamSettings<I, O>;
  readonly #rpc: string;
  readonly #lost: AbortSignal;
  readonly #caller: string;
  readonly #replies: ReplyQueue;
  /** Calls whose callers wait for a reply. */
  readonly #open = new Map<number, ServedCall>();
  readonly #sweep = new DeadlineSweep(
    () => this.#open.values(),
    (call) => this.#expire(call),
  );
  /** Handlers that have not returned, including those of expired or cancelled calls. */
  #running = 0;
  #noMoreCalls = false;
  #refusing = false;
  #graceTimer: NodeJS.Timeout | undefined;
  #ageTimer: NodeJS.Timeout | undefined;

  constructor(settings: ServedStreamSettings<I, O>, { signal: lost, caller }: StreamContext) {
    this.#settings = settings;
    this.#rpc = `${settings.method.parent.typeName}/${settings.method.name}`;
    this.#lost = lost;
    this.#caller = caller;
    this.#replies = new ReplyQueue(settings.maxInFlight);
  }

  serve(batches: AsyncIterable<CallBatch>): AsyncIterable<ReplyBatch> {
    const { drainSignal } = this.#settings;
    if (drainSignal?.aborted) throw new ConnectError("the server is draining", Code.Unavailable);
    const drain = () => this.#drain();
    drainSignal?.addEventListener("abort", drain);
    this.#ageTimer = setTimeout(drain, this.#settings.maxAgeMs).unref();
    this.#lost.addEventListener("abort", () => {
      drainSignal?.removeEventListener("abort", drain);
      this.#close();
    });
    if (this.#lost.aborted) this.#close();
    this.#read(batches).catch((error: unknown) => this.#replies.batches.fail(ConnectError.from(error)));
    return this.#replies.batches;
  }

  async #read(batches: AsyncIterable<CallBatch>): Promise<void> {
    for await (const batch of batches) {
      this.#accept(batch);
      while (this.#replies.full && !this.#lost.aborted) await this.#replies.room();
    }
    this.#noMoreCalls = true;
    this.#endIfDone();
  }

  #accept(batch: CallBatch): void {
    const { maxTimeoutMs } = this.#settings;
    const nowMs = performance.now();
    for (const sent of batch.calls) {
      const { id, request, timeoutMs, requestId } = sent;
      if (this.#open.has(id)) throw new ConnectError(`call ${id} is already open`, Code.InvalidArgument);
      const allowedMs = timeoutMs === 0 ? maxTimeoutMs : Math.min(timeoutMs, maxTimeoutMs);
      const scope = { requestId: isRequestId(requestId) ? requestId : "", span: spanOf(sent) };
      runForRequest(scope, () => this.#begin(new ServedCall(id, nowMs + allowedMs, this.#caller), request));
    }
    for (const id of batch.cancelled) this.#cancel(id);
  }

  #begin(call: ServedCall, request: Uint8Array): void {
    if (this.#refusing) {
      this.#refuse(call, new ConnectError("the server is draining", Code.Unavailable));
    } else if (this.#running >= this.#settings.maxInFlight) {
      this.#refuse(call, new ConnectError("too many calls in flight", Code.ResourceExhausted));
    } else {
      this.#open.set(call.id, call);
      this.#running += 1;
      this.#sweep.start();
      void this.#run(call, request);
    }
  }

  /** Never rejects: every failure becomes a reply. */
  async #run(call: ServedCall, bytes: Uint8Array): Promise<void> {
    const { method, handler, onError } = this.#settings;
    try {
      const response = await observeRpc(this.#rpc, () => handler(this.#decode(bytes), call));
      if (this.#open.get(call.id) === call) this.#reply(call, toBinary(method.output, response));
    } catch (error) {
      // Nobody waits for the reply of a handler that was told to stop, so its failure does not matter.
      if (this.#open.get(call.id) === call) this.#fail(call, publicError(error, onError));
    } finally {
      this.#running -= 1;
    }
  }

  #decode(bytes: Uint8Array): MessageShape<I> {
    try {
      return fromBinary(this.#settings.method.input, bytes);
    } catch {
      throw new ConnectError("the request cannot be decoded", Code.InvalidArgument);
    }
  }

  #reply(call: ServedCall, response: Uint8Array): void {
    if (response.byteLength > MAX_MESSAGE_BYTES) {
      this.#fail(call, new ConnectError("the response is too large", Code.ResourceExhausted));
      return;
    }
    this.#open.delete(call.id);
    this.#replies.push({
      $typeName: "toolgate.call_stream.v1.Reply",
      id: call.id,
      result: { case: "response", value: response },
    });
    this.#endIfDone();
  }

  #fail(call: ServedCall, error: ConnectError): void {
    this.#open.delete(call.id);
    this.#refuse(call, error);
    this.#endIfDone();
  }

  #refuse(call: ServedCall, error: ConnectError): void {
    this.#replies.push({
      $typeName: "toolgate.call_stream.v1.Reply",
      id: call.id,
      result: { case: "failure", value: toFailure(error) },
    });
  }

  #expire(call: ServedCall): void {
    const error = deadlineExceeded();
    this.#fail(call, error);
    call.abort(error);
  }

  #cancel(id: number): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    this.#open.delete(id);
    call.abort(callerGone());
    this.#endIfDone();
  }

  #drain(): void {
    if (this.#graceTimer) return;
    this.#replies.goAway();
    this.#graceTimer = setTimeout(() => {
      this.#refusing = true;
      this.#noMoreCalls = true;
      this.#endIfDone();
    }, this.#settings.drainGraceMs);
  }

  #endIfDone(): void {
    if (this.#noMoreCalls && this.#open.size === 0) this.#replies.batches.end();
  }

  #close(): void {
    clearTimeout(this.#graceTimer);
    clearTimeout(this.#ageTimer);
    this.#sweep.stop();
    const reason = new ConnectError("the stream has ended", Code.Canceled);
    for (const call of this.#open.values()) call.abort(reason);
    this.#open.clear();
    this.#replies.discard();
    this.#replies.batches.end();
  }
}
