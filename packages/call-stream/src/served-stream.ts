import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallBatch, ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { runForRequest } from "@toolgate/telemetry/request";
import { isRequestId } from "@toolgate/telemetry/request-id";
import { spanOf } from "@toolgate/telemetry/trace";
import { Batches, takeFrames } from "./batches.ts";
import {
  type CallContext,
  type CallHandler,
  type ErrorListener,
  MAX_MESSAGE_BYTES,
  publicError,
  toFailure,
} from "./call.ts";
import { observeRpc } from "./measure.ts";

/** Limits on each stream that a server accepts. */
export interface ServeLimits {
  /** Handlers running at a time; further calls fail with `resource_exhausted`. */
  readonly maxInFlight: number;
  /** For this long after a drain has begun, calls already in transit are still accepted. */
  readonly drainGraceMs: number;
  /** After this time a stream takes no more calls; its client opens another. */
  readonly maxAgeMs: number;
}

interface ServedStreamOptions<I extends DescMessage, O extends DescMessage> extends ServeLimits {
  readonly method: DescMethodUnary<I, O>;
  readonly handler: CallHandler<MessageShape<I>, MessageShape<O>>;
  readonly onError: ErrorListener;
  readonly drainSignal: AbortSignal;
}

export type StreamContext = CallContext & {
  /** Aborts when the stream ends, for any reason. */
  readonly signal: AbortSignal;
};

type Reply = ReplyBatch["replies"][number];

/** The server's side of one stream. */
export class ServedStream<I extends DescMessage, O extends DescMessage> {
  readonly #options: ServedStreamOptions<I, O>;
  readonly #rpc: string;
  readonly #context: StreamContext;
  readonly #batches = new Batches<ReplyBatch>(() => this.#take());
  #unsent: Reply[] = [];
  #isGoingAway = false;
  /** Calls whose handlers have not returned. */
  readonly #open = new Set<number>();
  /** The client sends no more calls, or the grace of the drain is over: later ones are refused. */
  #hasAllCalls = false;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(options: ServedStreamOptions<I, O>, context: StreamContext) {
    this.#options = options;
    this.#rpc = `${options.method.parent.typeName}/${options.method.name}`;
    this.#context = context;
    // The first batch is empty and tells the client that the stream is up.
    this.#batches.announce();
  }

  serve(batches: AsyncIterable<CallBatch>): AsyncIterable<ReplyBatch> {
    const { drainSignal, maxAgeMs } = this.#options;
    if (drainSignal.aborted) throw new ConnectError("the server is draining", Code.Unavailable);
    const drain = () => this.#drain();
    drainSignal.addEventListener("abort", drain);
    const ageTimer = setTimeout(drain, maxAgeMs).unref();
    this.#context.signal.addEventListener("abort", () => {
      drainSignal.removeEventListener("abort", drain);
      clearTimeout(ageTimer);
      this.#close();
    });
    if (this.#context.signal.aborted) this.#close();
    this.#read(batches).catch((error: unknown) => this.#batches.fail(ConnectError.from(error)));
    return this.#batches;
  }

  async #read(batches: AsyncIterable<CallBatch>): Promise<void> {
    for await (const { calls } of batches) {
      for (const sent of calls) {
        const scope = { requestId: isRequestId(sent.requestId) ? sent.requestId : "", span: spanOf(sent) };
        runForRequest(scope, () => this.#begin(sent));
      }
    }
    this.#hasAllCalls = true;
    this.#endIfDone();
  }

  #begin({ id, request }: CallBatch["calls"][number]): void {
    const refusal = this.#refusal();
    if (refusal) {
      this.#refuse(id, refusal);
      return;
    }
    this.#open.add(id);
    void this.#run(id, request);
  }

  #refusal(): ConnectError | undefined {
    if (this.#hasAllCalls) return new ConnectError("the server is draining", Code.Unavailable);
    if (this.#open.size < this.#options.maxInFlight) return undefined;
    return new ConnectError("too many calls in flight", Code.ResourceExhausted);
  }

  /** Never rejects: every failure becomes a reply. */
  async #run(id: number, bytes: Uint8Array): Promise<void> {
    const { method, handler, onError } = this.#options;
    try {
      const response = await observeRpc(this.#rpc, () => handler(this.#decode(bytes), this.#context));
      this.#reply(id, toBinary(method.output, response));
    } catch (error) {
      this.#refuse(id, publicError(error, onError));
    }
  }

  #decode(bytes: Uint8Array): MessageShape<I> {
    try {
      return fromBinary(this.#options.method.input, bytes);
    } catch {
      throw new ConnectError("the request cannot be decoded", Code.InvalidArgument);
    }
  }

  #reply(id: number, response: Uint8Array): void {
    if (response.byteLength > MAX_MESSAGE_BYTES) {
      throw new ConnectError("the response is too large", Code.ResourceExhausted);
    }
    this.#send(id, { case: "response", value: response });
  }

  #refuse(id: number, error: ConnectError): void {
    this.#send(id, { case: "failure", value: toFailure(error) });
  }

  #send(id: number, result: Reply["result"]): void {
    // Nobody reads the replies of a stream that has ended.
    if (!this.#context.signal.aborted) this.#unsent.push({ $typeName: "toolgate.call_stream.v1.Reply", id, result });
    this.#batches.announce();
    this.#open.delete(id);
    this.#endIfDone();
  }

  #take(): ReplyBatch {
    const replies = takeFrames(this.#unsent, sizeOf);
    if (this.#unsent.length > 0) this.#batches.announce();
    const goingAway = this.#isGoingAway;
    this.#isGoingAway = false;
    return { $typeName: "toolgate.call_stream.v1.ReplyBatch", replies, goingAway };
  }

  #drain(): void {
    if (this.#graceTimer) return;
    this.#isGoingAway = true;
    this.#batches.announce();
    this.#graceTimer = setTimeout(() => {
      this.#hasAllCalls = true;
      this.#endIfDone();
    }, this.#options.drainGraceMs);
  }

  #endIfDone(): void {
    if (this.#hasAllCalls && this.#open.size === 0) this.#batches.end();
  }

  #close(): void {
    clearTimeout(this.#graceTimer);
    this.#unsent = [];
    this.#batches.end();
  }
}

function sizeOf({ result }: Reply): number {
  return result.case === "response" ? result.value.byteLength : (result.value?.message.length ?? 0);
}
