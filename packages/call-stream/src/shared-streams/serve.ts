import { ConnectError } from "@connectrpc/connect";
import type { ItemBatch, Open, OpenBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { BatchSource } from "../batch-source.ts";
import { callerGone } from "../failure.ts";
import { MAX_BATCH_BYTES } from "../limits.ts";
import { toEnd } from "./end.ts";
import { STREAM_WINDOW_BYTES } from "./limits.ts";

/** Calls an RPC, and returns the encoded messages of its stream. Rejects with a ConnectError. */
export type OpenStream = (call: Open, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** The implementation of a bidirectional RPC that carries the streams of others. */
type ServedSharedStreams = (
  batches: AsyncIterable<OpenBatch>,
  context: { readonly signal: AbortSignal },
) => AsyncIterable<ItemBatch>;

/** `drainSignal`: connections take no new streams; those that are open end by themselves. */
export function serveSharedStreams(open: OpenStream, drainSignal: AbortSignal): ServedSharedStreams {
  return (batches, { signal }) => new ServedConnection(open, drainSignal, signal).serve(batches);
}

type Item = ItemBatch["items"][number];

interface ServedStream {
  abort: AbortController;
  /** Bytes that the reader has not taken. */
  unread: number;
  onRoom: (() => void) | undefined;
}

/** The server's side of one connection. */
class ServedConnection {
  readonly #openStream: OpenStream;
  readonly #drain: AbortSignal;
  readonly #lost: AbortSignal;
  readonly #streams = new Map<number, ServedStream>();
  readonly #batches = new BatchSource<ItemBatch>(() => this.#take());
  #items: Item[] = [];
  #goingAway = false;
  #clientEnded = false;

  constructor(openStream: OpenStream, drain: AbortSignal, lost: AbortSignal) {
    this.#openStream = openStream;
    this.#drain = drain;
    this.#lost = lost;
  }

  serve(batches: AsyncIterable<OpenBatch>): AsyncIterable<ItemBatch> {
    // The first batch tells the client that the stream is up.
    this.#batches.announce();
    const goAway = () => {
      this.#goingAway = true;
      this.#batches.announce();
    };
    if (this.#drain.aborted) goAway();
    this.#drain.addEventListener("abort", goAway);
    this.#lost.addEventListener("abort", () => {
      this.#drain.removeEventListener("abort", goAway);
      for (const { abort } of this.#streams.values()) abort.abort(callerGone());
      this.#items = [];
      this.#batches.end();
    });
    this.#read(batches).catch((error: unknown) => this.#batches.fail(ConnectError.from(error)));
    return this.#batches;
  }

  async #read(batches: AsyncIterable<OpenBatch>): Promise<void> {
    for await (const { opened, left, taken } of batches) {
      for (const call of opened) void this.#run(call);
      for (const id of left) this.#streams.get(id)?.abort.abort(callerGone());
      for (const { id, bytes } of taken) {
        const stream = this.#streams.get(id);
        if (!stream) continue;
        stream.unread -= bytes;
        if (stream.unread < STREAM_WINDOW_BYTES) stream.onRoom?.();
      }
    }
    this.#clientEnded = true;
    this.#endIfDone();
  }

  /** Never rejects. */
  async #run(call: Open): Promise<void> {
    const stream: ServedStream = { abort: new AbortController(), unread: 0, onRoom: undefined };
    const { signal } = stream.abort;
    this.#streams.set(call.id, stream);
    let failure: ConnectError | undefined;
    try {
      for await (const message of this.#openStream(call, signal)) {
        if (signal.aborted) break;
        stream.unread += message.byteLength;
        this.#push({
          $typeName: "toolgate.call_stream.v1.Item",
          id: call.id,
          result: { case: "message", value: message },
        });
        while (stream.unread >= STREAM_WINDOW_BYTES && !signal.aborted) await roomOf(stream);
      }
    } catch (error) {
      failure = ConnectError.from(error);
    }
    this.#streams.delete(call.id);
    const end = toEnd(failure);
    if (!signal.aborted)
      this.#push({ $typeName: "toolgate.call_stream.v1.Item", id: call.id, result: { case: "end", value: end } });
    this.#endIfDone();
  }

  #push(item: Item): void {
    this.#items.push(item);
    this.#batches.announce();
  }

  #take(): ItemBatch {
    let bytes = 0;
    let count = 0;
    for (const { result } of this.#items) {
      if (result.case === "message") bytes += result.value.byteLength;
      if (count > 0 && bytes > MAX_BATCH_BYTES) break;
      count += 1;
    }
    const items = count === this.#items.length ? this.#items : this.#items.slice(0, count);
    this.#items = count === this.#items.length ? [] : this.#items.slice(count);
    if (this.#items.length > 0) this.#batches.announce();
    const goingAway = this.#goingAway;
    this.#goingAway = false;
    return { $typeName: "toolgate.call_stream.v1.ItemBatch", items, goingAway };
  }

  #endIfDone(): void {
    if (this.#clientEnded && this.#streams.size === 0) this.#batches.end();
  }
}

/** Resolves when the reader has taken something, or has left. */
function roomOf(stream: ServedStream): Promise<void> {
  const { signal } = stream.abort;
  return new Promise((resolve) => {
    const done = () => {
      stream.onRoom = undefined;
      signal.removeEventListener("abort", done);
      resolve();
    };
    stream.onRoom = done;
    signal.addEventListener("abort", done, { once: true });
  });
}
