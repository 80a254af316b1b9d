import type { DescMethodBiDiStreaming } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  CallBatch,
  CallBatchSchema,
  ReplyBatch,
  ReplyBatchSchema,
} from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { callStreamBatch } from "@toolgate/telemetry/instruments";
import { BatchSource } from "./batch-source.ts";
import type { StreamCaller } from "./caller.ts";
import { fromFailure } from "./failure.ts";
import { CONNECT_TIMEOUT_MS, MAX_BATCH_BYTES } from "./limits.ts";

/** A bidirectional RPC whose messages are batches of frames. */
export type StreamMethod = DescMethodBiDiStreaming<typeof CallBatchSchema, typeof ReplyBatchSchema>;

export type StreamConnectionOptions<O> = {
  readonly streamMethod: StreamMethod;
  readonly transport: Transport & Partial<Disposable>;
  readonly decode: (response: Uint8Array) => O;
  /** The stream takes calls. */
  readonly onUp: () => void;
  /** The stream takes no new calls; `unsent` are those that it returns to the client. */
  readonly onDown: (unsent: StreamCaller<O>[]) => void;
  /** The request is sent now; from here on the handler may have run. */
  readonly onSent: (caller: StreamCaller<O>) => void;
  /** The call has ended. */
  readonly onEnded: (caller: StreamCaller<O>) => void;
};

const MAX_TIMEOUT_ON_WIRE_MS = 0xffff_ffff;
const MAX_ID = 0xffff_ffff;
const NOTHING = new Uint8Array(0);

/** The client's side of one stream, from its opening to its end. */
export class StreamConnection<O> {
  readonly #options: StreamConnectionOptions<O>;
  readonly #abort = new AbortController();
  readonly #open = new Map<number, StreamCaller<O>>();
  readonly #batches = new BatchSource<CallBatch>(() => this.#take());
  readonly #unsent = new Set<StreamCaller<O>>();
  #cancelled: number[] = [];
  #lastId = 0;
  #up = false;
  #draining = false;
  readonly #labels: { rpc: string };

  constructor(options: StreamConnectionOptions<O>) {
    this.#options = options;
    const { parent, name } = options.streamMethod;
    this.#labels = { rpc: `${parent.typeName}/${name}` };
  }

  /** Calls on this stream that have no reply yet. */
  get inFlight(): number {
    return this.#open.size;
  }

  /** Runs the stream until it ends; resolves with the error, or with nothing if it ended cleanly. */
  async run(): Promise<ConnectError | undefined> {
    const { streamMethod, transport } = this.#options;
    const connectTimer = setTimeout(() => this.abort("the server did not open the stream in time"), CONNECT_TIMEOUT_MS);
    try {
      // 0: without a time limit; a default timeout of the transport would cut the stream.
      const response = await transport.stream(streamMethod, this.#abort.signal, 0, undefined, this.#batches);
      for await (const batch of response.message) {
        clearTimeout(connectTimer);
        this.#receive(batch);
      }
      return this.#close(undefined);
    } catch (error) {
      return this.#close(ConnectError.from(error));
    } finally {
      clearTimeout(connectTimer);
      transport[Symbol.dispose]?.();
    }
  }

  send(caller: StreamCaller<O>): void {
    caller.connection = this;
    caller.id = this.#nextId();
    this.#open.set(caller.id, caller);
    this.#unsent.add(caller);
    this.#batches.announce();
  }

  /** Forgets a call that was cancelled or timed out, and tells the server if it has the call. */
  forget(caller: StreamCaller<O>): void {
    this.#open.delete(caller.id);
    if (!this.#unsent.delete(caller)) {
      this.#cancelled.push(caller.id);
      this.#batches.announce();
    }
    this.#endIfDone();
  }

  /** Takes no new calls, finishes the open ones, then ends the stream. */
  leave(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#options.onDown(this.#reclaim());
    this.#endIfDone();
  }

  /** Ends the stream immediately; its open calls fail. */
  abort(reason: string): void {
    this.#abort.abort(new ConnectError(reason, Code.Unavailable));
  }

  #nextId(): number {
    do this.#lastId = this.#lastId === MAX_ID ? 1 : this.#lastId + 1;
    while (this.#open.has(this.#lastId));
    return this.#lastId;
  }

  #receive(batch: ReplyBatch): void {
    // Not on the response's headers: a draining server that refuses the stream sends them too.
    if (!this.#up && !this.#draining && !batch.goingAway) this.#options.onUp();
    this.#up = true;
    for (const { id, result } of batch.replies) {
      const caller = this.#open.get(id);
      if (caller === undefined) continue;
      this.#open.delete(id);
      this.#options.onEnded(caller);
      if (result.case === "response") this.#succeed(caller, result.value);
      else if (result.case === "failure") caller.fail(fromFailure(result.value));
      else caller.fail(new ConnectError("the reply is empty", Code.Internal));
    }
    if (batch.goingAway) this.leave();
    this.#endIfDone();
  }

  #succeed(caller: StreamCaller<O>, response: Uint8Array): void {
    try {
      caller.succeed(this.#options.decode(response));
    } catch (error) {
      caller.fail(new ConnectError("the response cannot be decoded", Code.Internal, undefined, undefined, error));
    }
  }

  #take(): CallBatch | undefined {
    const nowMs = performance.now();
    const calls: CallBatch["calls"] = [];
    let bytes = 0;
    for (const caller of this.#unsent) {
      const { request } = caller;
      if (calls.length > 0 && bytes + request.byteLength > MAX_BATCH_BYTES) {
        this.#batches.announce();
        break;
      }
      bytes += request.byteLength;
      this.#unsent.delete(caller);
      this.#options.onSent(caller);
      caller.sent = true;
      caller.request = NOTHING;
      const timeoutMs = Math.max(1, Math.min(Math.ceil(caller.deadlineMs - nowMs), MAX_TIMEOUT_ON_WIRE_MS));
      const { id, requestId, trace } = caller;
      calls.push({
        $typeName: "toolgate.call_stream.v1.Call",
        id,
        request,
        timeoutMs,
        requestId,
        traceparent: trace.traceparent,
        tracestate: trace.tracestate,
      });
    }
    const cancelled = this.#cancelled;
    this.#cancelled = [];
    if (calls.length === 0 && cancelled.length === 0) return undefined;
    if (calls.length > 0) callStreamBatch.record(calls.length, this.#labels);
    return { $typeName: "toolgate.call_stream.v1.CallBatch", calls, cancelled };
  }

  #reclaim(): StreamCaller<O>[] {
    const unsent = [...this.#unsent];
    this.#unsent.clear();
    for (const caller of unsent) this.#open.delete(caller.id);
    return unsent;
  }

  #endIfDone(): void {
    if (this.#draining && this.#open.size === 0) this.#batches.end();
  }

  #close(error: ConnectError | undefined): ConnectError | undefined {
    this.leave();
    this.#batches.end();
    const lost = [...this.#open.values()];
    this.#open.clear();
    for (const caller of lost) {
      this.#options.onEnded(caller);
      caller.fail(new ConnectError("the stream was lost", Code.Unavailable, undefined, undefined, error));
    }
    return error;
  }
}
