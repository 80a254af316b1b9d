import { once } from "node:events";
import { chatStreamsEnded } from "@toolgate/telemetry/instruments";
import type { FastifyReply } from "fastify";
import { HEARTBEAT, OPENED } from "../../domain/chat/server-sent-events.ts";
import type { OpenStreams } from "./open-streams.ts";

export type StreamKind = "answer" | "resume";
type Outcome = "done" | "disconnected" | "slow" | "cut";

/** A client with more unsent bytes than this reads too slowly: it is cut, and resumes by event id. */
const MAX_BACKLOG_BYTES = 256 * 1024;
/** A replay waits for its reader after each piece of this size. */
const PIECE_BYTES = 64 * 1024;

export interface StreamTimes {
  heartbeatMs: number;
  /** How long a client may take to read a piece of a replay, or the rest of a response that has ended. */
  maxWaitMs: number;
}

const TIMES: StreamTimes = { heartbeatMs: 15_000, maxWaitMs: 30_000 };

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Otherwise nginx would collect the events.
  "x-accel-buffering": "no",
};

/** [CHAT-16] A response of server-sent events. Never compressed: compression would delay events. */
export class SseStream {
  /** Fires when the client has left or was cut. */
  readonly signal: AbortSignal;
  readonly #reply: FastifyReply;
  readonly #kind: StreamKind;
  readonly #streams: OpenStreams;
  readonly #left = new AbortController();
  readonly #times: StreamTimes;
  #heartbeat: NodeJS.Timeout | undefined;
  /** Cuts a client that does not read the end. */
  #ending: NodeJS.Timeout | undefined;
  #isOpen = false;
  #isWriting = false;
  #outcome: Outcome = "disconnected";

  constructor(reply: FastifyReply, kind: StreamKind, streams: OpenStreams, times = TIMES) {
    this.#reply = reply;
    this.#kind = kind;
    this.#streams = streams;
    this.#times = times;
    this.signal = this.#left.signal;
    reply.raw.once("close", () => this.#closed());
    // The client left while its login was checked.
    if (reply.raw.destroyed) this.#left.abort();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get hasEnded(): boolean {
    return this.#reply.raw.writableEnded;
  }

  /** Begins the response. From here on, failures can only be events. */
  open(): void {
    if (this.#isOpen || this.signal.aborted) return;
    const { raw } = this.#reply;
    this.#isOpen = true;
    this.#reply.hijack();
    // Nothing to do: a connection that breaks is also closed.
    raw.on("error", () => {});
    raw.writeHead(200, { ...this.#reply.getHeaders(), ...HEADERS } as Record<string, string>);
    raw.write(OPENED);
    this.#heartbeat = setInterval(() => this.#beat(), this.#times.heartbeatMs);
    this.#streams.add(this);
  }

  /** `replayed`: it was stored earlier, so the sender may wait for the reader. */
  async send(text: string, { replayed }: { replayed: boolean }): Promise<void> {
    this.open();
    if (text === "") return;
    if (!replayed) return this.#write(text);
    this.#isWriting = true;
    const bytes = Buffer.from(text);
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      this.#write(bytes.subarray(start, start + PIECE_BYTES));
      await this.#drained();
    }
    this.#isWriting = false;
  }

  /** Ends the response after its last event. */
  end(): void {
    const { raw } = this.#reply;
    if (this.signal.aborted || raw.writableEnded) return;
    this.#outcome = "done";
    clearInterval(this.#heartbeat);
    this.#ending = setTimeout(() => this.cut("slow"), this.#times.maxWaitMs);
    raw.end();
  }

  /** Ends the response without its last event, so that the client connects again. */
  cut(outcome: "slow" | "cut"): void {
    if (this.signal.aborted) return;
    this.#outcome = outcome;
    this.#reply.raw.destroy();
  }

  #write(content: string | Uint8Array): void {
    const { raw } = this.#reply;
    if (this.signal.aborted || raw.writableEnded) return;
    // One long event may exceed the limit by itself.
    if (raw.writableLength > MAX_BACKLOG_BYTES) this.cut("slow");
    else raw.write(content);
  }

  /** Not in the middle of an event, and not needed while other bytes are still unsent. */
  #beat(): void {
    if (!this.#isWriting && this.#reply.raw.writableLength === 0) this.#write(HEARTBEAT);
  }

  async #drained(): Promise<void> {
    const { raw } = this.#reply;
    if (this.signal.aborted || !raw.writableNeedDrain) return;
    const waited = AbortSignal.any([this.signal, AbortSignal.timeout(this.#times.maxWaitMs)]);
    await once(raw, "drain", { signal: waited }).catch(() => this.cut("slow"));
  }

  #closed(): void {
    this.#left.abort();
    clearInterval(this.#heartbeat);
    clearTimeout(this.#ending);
    if (!this.#isOpen) return;
    this.#streams.remove(this);
    chatStreamsEnded.add(1, { kind: this.#kind, outcome: this.#outcome });
  }
}
