import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { chatStreamsEnded } from "@toolgate/telemetry/instruments";
import type { FastifyReply } from "fastify";
import { HEARTBEAT, OPENED } from "../../domain/chat/server-sent-events.ts";
import { whenClosed } from "../slots.ts";
import type { OpenStreams } from "./open-streams.ts";

export type StreamKind = "answer" | "resume";
type Outcome = "done" | "disconnected" | "slow" | "cut";

/** Comments keep connections through proxies open. */
const HEARTBEAT_MS = 15_000;
/** A client with more unsent bytes than this reads too slowly: it is cut, and resumes by event id. */
const MAX_BACKLOG_BYTES = 256 * 1024;
/** A replay waits for its reader after each piece of this size. */
const PIECE_BYTES = 64 * 1024;
/** How long a client may take to read a piece of a replay, or the rest of a response that has ended. */
const MAX_WAIT_MS = 30_000;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Otherwise nginx would collect the events.
  "x-accel-buffering": "no",
  connection: "close",
};

interface StreamOptions {
  kind: StreamKind;
  streams: OpenStreams;
  heartbeatMs?: number;
  maxWaitMs?: number;
}

/** [CHAT-16] A response of server-sent events. Never compressed: compression would delay events. */
export class SseStream {
  /** Fires when the client has disconnected or was cut. */
  readonly signal: AbortSignal;
  readonly #raw: ServerResponse;
  #reply: FastifyReply | undefined;
  readonly #options: StreamOptions;
  #heartbeat: NodeJS.Timeout | undefined;
  /** Cuts a client that does not read the end. */
  #ending: NodeJS.Timeout | undefined;
  #outcome: Outcome = "disconnected";

  constructor(reply: FastifyReply, options: StreamOptions) {
    this.#reply = reply;
    this.#raw = reply.raw;
    this.#options = options;
    // It has fired already if the client disconnected while its login was checked.
    this.signal = whenClosed(this.#raw);
    this.signal.addEventListener("abort", () => this.#close());
  }

  /** For another response, as long as this one has not begun. */
  get reply(): FastifyReply | undefined {
    return this.#reply;
  }

  /** Bytes that the client has not read. */
  get backlogBytes(): number {
    return this.#raw.writableLength;
  }

  /** Begins the response. From here on, failures can only be events. */
  open(): void {
    const reply = this.#reply;
    if (!reply || this.signal.aborted) return;
    const { heartbeatMs = HEARTBEAT_MS, streams } = this.#options;
    this.#reply = undefined;
    reply.hijack();
    this.#raw.writeHead(200, { ...reply.getHeaders(), ...HEADERS } as Record<string, string>);
    // node:http would go on writing to a client that has ended its side.
    this.#raw.socket?.once("end", () => this.#raw.destroy());
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    this.#write(OPENED);
    streams.add(this);
  }

  /** `replayed`: it was stored earlier, so the sender may wait for the reader. */
  async send(text: string, { replayed }: { replayed: boolean }): Promise<void> {
    this.open();
    if (text === "") return;
    if (!replayed) return this.#write(text);
    const bytes = Buffer.from(text);
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      this.#write(bytes.subarray(start, start + PIECE_BYTES));
      await this.#drained();
    }
  }

  /** Ends the response after its last event. */
  end(): void {
    if (this.#reply || this.signal.aborted || this.#raw.writableEnded) return;
    this.#outcome = "done";
    this.#ending = setTimeout(() => this.cut("slow"), this.#options.maxWaitMs ?? MAX_WAIT_MS);
    this.#raw.end();
  }

  /** Ends the response without its last event, so that the client connects again. */
  cut(outcome: "slow" | "cut"): void {
    if (this.signal.aborted) return;
    this.#outcome = outcome;
    this.#raw.destroy();
  }

  /** Not while bytes are unsent: it is not needed then, and could come in the middle of an event. */
  #beat(): void {
    if (this.backlogBytes === 0) this.#write(HEARTBEAT);
  }

  #write(content: string | Uint8Array): void {
    if (this.signal.aborted || this.#raw.writableEnded) return;
    // One long event may exceed the limit by itself.
    if (this.backlogBytes > MAX_BACKLOG_BYTES) this.cut("slow");
    else this.#raw.write(content);
  }

  async #drained(): Promise<void> {
    if (this.signal.aborted || !this.#raw.writableNeedDrain) return;
    const waited = AbortSignal.any([this.signal, AbortSignal.timeout(this.#options.maxWaitMs ?? MAX_WAIT_MS)]);
    await once(this.#raw, "drain", { signal: waited }).catch(() => this.cut("slow"));
  }

  #close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#ending);
    if (this.#reply) return;
    this.#options.streams.remove(this);
    chatStreamsEnded.add(1, { kind: this.#options.kind, outcome: this.#outcome });
  }
}
