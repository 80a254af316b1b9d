import type { ReplyBatch } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { BatchSource } from "./batch-source.ts";
import { MAX_BATCH_BYTES, MAX_UNSENT_REPLY_BYTES } from "./limits.ts";

type Reply = ReplyBatch["replies"][number];

/** The replies of one stream that wait to be written, and whether there is room for more. */
export class ReplyQueue {
  readonly batches: BatchSource<ReplyBatch>;
  readonly #maxUnsent: number;
  #unsent: Reply[] = [];
  #unsentBytes = 0;
  #goingAway = false;
  #waiting: (() => void) | undefined;

  constructor(maxUnsent: number) {
    this.#maxUnsent = maxUnsent;
    this.batches = new BatchSource(() => this.#take());
    this.batches.announce();
  }

  push(reply: Reply): void {
    this.#unsent.push(reply);
    this.#unsentBytes += sizeOf(reply);
    this.batches.announce();
  }

  /** Announces that the server takes no new calls on this stream. */
  goAway(): void {
    this.#goingAway = true;
    this.batches.announce();
  }

  get full(): boolean {
    return this.#unsent.length >= this.#maxUnsent || this.#unsentBytes >= MAX_UNSENT_REPLY_BYTES;
  }

  /** Resolves once the reader has taken enough. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Drops the unsent replies, because the reader has disconnected. */
  discard(): void {
    this.#unsent = [];
    this.#unsentBytes = 0;
    this.#release();
  }

  #take(): ReplyBatch {
    const replies = this.#unsentBytes <= MAX_BATCH_BYTES ? this.#takeAll() : this.#takeSome();
    const goingAway = this.#goingAway;
    this.#goingAway = false;
    if (!this.full) this.#release();
    return { $typeName: "toolgate.call_stream.v1.ReplyBatch", replies, goingAway };
  }

  #takeAll(): Reply[] {
    const all = this.#unsent;
    this.#unsent = [];
    this.#unsentBytes = 0;
    return all;
  }

  #takeSome(): Reply[] {
    let count = 0;
    let bytes = 0;
    for (const reply of this.#unsent) {
      const size = sizeOf(reply);
      if (count > 0 && bytes + size > MAX_BATCH_BYTES) break;
      count += 1;
      bytes += size;
    }
    this.#unsentBytes -= bytes;
    const taken = this.#unsent.splice(0, count);
    if (this.#unsent.length > 0) this.batches.announce();
    return taken;
  }

  #release(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}

function sizeOf(reply: Reply): number {
  const { result } = reply;
  if (result.case === "response") return result.value.byteLength;
  return result.value?.message.length ?? 0;
}
