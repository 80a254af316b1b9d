import { once } from "node:events";
import { chatStreamsEnded } from "@toolgate/telemetry/instruments";
import type { FastifyReply } from "fastify";
import { HEARTBEAT, RETRY } from "../../domain/chat/server-sent-events.ts";
import type { OpenStreams } from "./open-streams.ts";

export type StreamKind = "answer" | "resume";
type Outcome = "done" | "disconnected" | "slow" | "cut";

/** What may wait for a client. A client that reads too slowly is cut, and resumes by event id. */
const MAX_BACKLOG_BYTES = 256 * 1024;
/** A replay waits for its reader above this. */
const REPLAY_BACKLOG_BYTES = 64 * 1024;
const MAX_WAIT_MS = 30_000;
export const HEARTBEAT_MS = 15_000;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Otherwise nginx would collect the events.
  "x-accel-buffering": "no",
};

/** [CHAT-16] A response of server-sent events. Never compressed: compression would hold events back. */
export class SseStream {
  /** Fires when the client has left or was cut. */
  readonly signal: AbortSignal;
  readonly #reply: FastifyReply;
  readonly #kind: StreamKind;
  readonly #streams: OpenStreams;
  readonly #left = new AbortController();
  #heartbeat: NodeJS.Timeout | undefined;
  #outcome: Outcome = "disconnected";

  constructor(reply: FastifyReply, kind: StreamKind, streams: OpenStreams) {
    this.#reply = reply;
    this.#kind = kind;
    this.#streams = streams;
    this.signal = this.#left.signal;
    reply.raw.once("close", () => this.#closed());
    // The client left while its login was checked.
    if (reply.raw.destroyed) this.#left.abort();
  }

  get isOpen(): boolean {
    return this.#heartbeat !== undefined;
  }

  /** Begins the response. From here on, failures can only be events. */
  open(): void {
    if (this.isOpen) return;
    const { raw } = this.#reply;
    this.#reply.hijack();
    raw.writeHead(200, { ...this.#reply.getHeaders(), ...HEADERS } as Record<string, string>);
    raw.write(RETRY);
    this.#heartbeat = setInterval(() => this.#write(HEARTBEAT), HEARTBEAT_MS);
    this.#streams.add(this);
  }

  /** `replayed`: it was stored earlier, so the sender may wait for the reader. */
  async send(text: string, { replayed }: { replayed: boolean }): Promise<void> {
    this.open();
    if (text === "") return;
    this.#write(text);
    if (!replayed || this.#reply.raw.writableLength < REPLAY_BACKLOG_BYTES) return;
    const waited = AbortSignal.any([this.signal, AbortSignal.timeout(MAX_WAIT_MS)]);
    await once(this.#reply.raw, "drain", { signal: waited }).catch(() => this.cut("slow"));
  }

  /** Ends the response after its last event. */
  end(): void {
    this.#outcome = "done";
    this.#reply.raw.end();
  }

  /** Ends the response without its last event, so that the client connects again. */
  cut(outcome: "slow" | "cut"): void {
    if (this.signal.aborted) return;
    this.#outcome = outcome;
    this.#reply.raw.destroy();
  }

  #write(text: string): void {
    const { raw } = this.#reply;
    if (this.signal.aborted) return;
    raw.write(text);
    if (raw.writableLength > MAX_BACKLOG_BYTES) this.cut("slow");
  }

  #closed(): void {
    this.#left.abort();
    if (!this.isOpen) return;
    clearInterval(this.#heartbeat);
    this.#streams.remove(this);
    chatStreamsEnded.add(1, { kind: this.#kind, outcome: this.#outcome });
  }
}
