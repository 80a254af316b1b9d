import type { DescMethodBiDiStreaming } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type {
  CallBatch,
  CallBatchSchema,
  ReplyBatch,
  ReplyBatchSchema,
} from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { callStreamBatch } from "@toolgate/telemetry/instruments";
import { Batches, takeFrames } from "./batches.ts";
import { fromFailure } from "./call.ts";
import type { StreamCaller } from "./caller.ts";

/** A bidirectional RPC whose messages are batches of frames. */
export type StreamMethod = DescMethodBiDiStreaming<typeof CallBatchSchema, typeof ReplyBatchSchema>;

interface StreamConnectionOptions<O> {
  readonly streamMethod: StreamMethod;
  readonly transport: Transport & Disposable;
  /** In metrics. */
  readonly rpc: string;
  readonly decode: (response: Uint8Array) => O;
  /** The stream takes calls. */
  readonly onUp: () => void;
  /** The stream takes no new calls. */
  readonly onDown: () => void;
}

/** Time for a stream to come up before the attempt counts as failed. */
const CONNECT_TIMEOUT_MS = 5_000;

/** The client's side of one stream, from its opening to its end. */
export class StreamConnection<O> {
  readonly #options: StreamConnectionOptions<O>;
  readonly #abort = new AbortController();
  readonly #open = new Map<number, StreamCaller<O>>();
  readonly #batches = new Batches<CallBatch>(() => this.#take());
  #unsent: StreamCaller<O>[] = [];
  #lastId = 0;
  #isUp = false;
  #isLeaving = false;

  constructor(options: StreamConnectionOptions<O>) {
    this.#options = options;
  }

  /** Calls on this stream that have no reply yet. */
  get inFlight(): number {
    return this.#open.size;
  }

  /** Runs the stream until it ends; resolves with the error, or with nothing if it ended cleanly. */
  async run(): Promise<ConnectError | undefined> {
    using transport = this.#options.transport;
    const { streamMethod } = this.#options;
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
    }
  }

  send(caller: StreamCaller<O>): void {
    this.#lastId += 1;
    caller.id = this.#lastId;
    caller.stream = this;
    this.#open.set(caller.id, caller);
    this.#unsent.push(caller);
    this.#batches.announce();
  }

  /** Forgets a call that was cancelled or timed out: its reply is dropped. */
  forget(caller: StreamCaller<O>): void {
    this.#open.delete(caller.id);
    this.#endIfDone();
  }

  /** Takes no new calls, finishes the open ones, then ends the stream. */
  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#options.onDown();
    this.#endIfDone();
  }

  /** Ends the stream immediately; its open calls fail. */
  abort(reason: string): void {
    this.#abort.abort(new ConnectError(reason, Code.Unavailable));
  }

  #receive(batch: ReplyBatch): void {
    // Not on the response's headers: a draining server that refuses the stream sends them too.
    if (!this.#isUp && !this.#isLeaving && !batch.goingAway) this.#options.onUp();
    this.#isUp = true;
    for (const { id, result } of batch.replies) {
      const caller = this.#open.get(id);
      if (caller === undefined) continue;
      this.#open.delete(id);
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
    // Calls that ended meanwhile are not sent.
    this.#unsent = this.#unsent.filter(({ id }) => this.#open.has(id));
    const callers = takeFrames(this.#unsent, ({ request }) => request.byteLength);
    if (this.#unsent.length > 0) this.#batches.announce();
    const calls = callers.map((caller): CallBatch["calls"][number] => {
      const { id, requestId, trace } = caller;
      const request = caller.takeRequest();
      return { $typeName: "toolgate.call_stream.v1.Call", id, request, requestId, ...trace };
    });
    if (calls.length === 0) return undefined;
    callStreamBatch.record(calls.length, { rpc: this.#options.rpc });
    return { $typeName: "toolgate.call_stream.v1.CallBatch", calls };
  }

  #endIfDone(): void {
    if (this.#isLeaving && this.#open.size === 0) this.#batches.end();
  }

  #close(error: ConnectError | undefined): ConnectError | undefined {
    this.leave();
    this.#batches.end();
    const lost = [...this.#open.values()];
    this.#open.clear();
    for (const caller of lost) {
      caller.fail(new ConnectError("the stream was lost", Code.Unavailable, undefined, undefined, error));
    }
    return error;
  }
}
