import type { DescMethodBiDiStreaming } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type {
  ItemBatch,
  ItemBatchSchema,
  OpenBatch,
  OpenBatchSchema,
} from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { BatchSource } from "../batch-source.ts";
import { CONNECT_TIMEOUT_MS } from "../limits.ts";
import { fromEnd } from "./end.ts";
import type { Carrier, Subscription } from "./subscription.ts";

/** A bidirectional RPC that carries the streams of other RPCs of its service. */
export type SharedStreamMethod = DescMethodBiDiStreaming<typeof OpenBatchSchema, typeof ItemBatchSchema>;

type AnySubscription = Subscription<unknown>;

interface ConnectionOptions {
  method: SharedStreamMethod;
  transport: Transport & Partial<Disposable>;
  onUp: () => void;
  /** It takes no new streams. */
  onDown: () => void;
}

const NOTHING = new Uint8Array(0);

/** The client's side of one connection, from its opening to its end. */
export class SharedConnection implements Carrier {
  readonly #options: ConnectionOptions;
  readonly #abort = new AbortController();
  readonly #open = new Map<number, AnySubscription>();
  readonly #batches = new BatchSource<OpenBatch>(() => this.#take());
  #unsent: AnySubscription[] = [];
  #left: number[] = [];
  #taken = new Map<number, number>();
  #lastId = 0;
  #up = false;
  #down = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Resolves when it has ended, with the error if there was one. All its streams have ended then. */
  async run(): Promise<ConnectError | undefined> {
    const { method, transport } = this.#options;
    const timer = setTimeout(() => this.close("the server did not open the stream in time"), CONNECT_TIMEOUT_MS);
    let failure: ConnectError | undefined;
    try {
      const response = await transport.stream(method, this.#abort.signal, 0, undefined, this.#batches);
      for await (const batch of response.message) {
        clearTimeout(timer);
        this.#receive(batch);
      }
    } catch (error) {
      failure = ConnectError.from(error);
    } finally {
      clearTimeout(timer);
      this.#goDown();
      this.#batches.end();
      transport[Symbol.dispose]?.();
    }
    const lost = new ConnectError("the stream was lost", Code.Unavailable, undefined, undefined, failure);
    for (const subscription of this.#open.values()) subscription.end(lost);
    this.#open.clear();
    return failure;
  }

  send(subscription: AnySubscription): void {
    // Its caller left while it waited for a connection.
    if (subscription.hasEnded) return;
    this.#lastId += 1;
    subscription.id = this.#lastId;
    subscription.carrier = this;
    this.#open.set(subscription.id, subscription);
    this.#unsent.push(subscription);
    this.#batches.announce();
  }

  leave({ id }: AnySubscription): void {
    if (!this.#open.delete(id)) return;
    this.#left.push(id);
    this.#batches.announce();
    this.#endIfDone();
  }

  taken(id: number, bytes: number): void {
    this.#taken.set(id, (this.#taken.get(id) ?? 0) + bytes);
    this.#batches.announce();
  }

  close(reason: string): void {
    this.#abort.abort(new ConnectError(reason, Code.Unavailable));
  }

  #goDown(): void {
    if (this.#down) return;
    this.#down = true;
    this.#options.onDown();
  }

  #receive({ items, goingAway }: ItemBatch): void {
    if (!this.#up && !goingAway) this.#options.onUp();
    this.#up = true;
    for (const { id, result } of items) {
      const subscription = this.#open.get(id);
      if (result.case === "message") subscription?.receive(result.value);
      if (result.case !== "end") continue;
      this.#open.delete(id);
      subscription?.end(fromEnd(result.value));
    }
    if (goingAway) this.#goDown();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#down && this.#open.size === 0) this.#batches.end();
  }

  #take(): OpenBatch {
    const unsent = this.#unsent.filter(({ hasEnded }) => !hasEnded);
    const [left, taken] = [this.#left, this.#taken];
    this.#unsent = [];
    this.#left = [];
    this.#taken = new Map();
    const opened = unsent.map((subscription) => {
      const { id, rpc, request, principal, requestId, trace } = subscription;
      subscription.request = NOTHING;
      const { traceparent, tracestate } = trace;
      const $typeName = "toolgate.call_stream.v1.Open" as const;
      return { $typeName, id, rpc, request, principal, requestId, traceparent, tracestate };
    });
    return {
      $typeName: "toolgate.call_stream.v1.OpenBatch",
      opened,
      left,
      taken: [...taken].map(([id, bytes]) => ({ $typeName: "toolgate.call_stream.v1.Taken" as const, id, bytes })),
    };
  }
}
