import type { CallOptions } from "./call.ts";
import { Caller } from "./caller.ts";
import type { StreamConnection } from "./stream-connection.ts";

/** A caller whose request is encoded and is given to a stream, or waits for one. */
export class StreamCaller<O> extends Caller<O> {
  /** Chosen by the stream that the call is on. */
  id = 0;
  /** Empty once it has left. */
  request: Uint8Array;
  /** The request was handed to the transport, so that the handler may have seen it. */
  sent = false;
  connection: StreamConnection<O> | undefined;

  readonly #giveUp: (caller: StreamCaller<O>) => void;

  constructor(
    request: Uint8Array,
    options: CallOptions,
    deadlineMs: number,
    giveUp: (caller: StreamCaller<O>) => void,
  ) {
    super(options, deadlineMs);
    this.request = request;
    this.#giveUp = giveUp;
  }

  protected override gone(): void {
    this.#giveUp(this);
  }
}
