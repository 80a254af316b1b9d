import { once } from "node:events";
import type { Socket } from "node:net";
import { chatStreamsEnded } from "@toolgate/telemetry/instruments";
import type { FastifyReply } from "fastify";
import { HEARTBEAT, OPENED } from "../../domain/chat/server-sent-events.ts";
import { measureLater } from "../telemetry.ts";
import type { OpenStreams } from "./open-streams.ts";
import { takeSocket } from "./take-socket.ts";

export type StreamKind = "answer" | "resume";
type Outcome = "done" | "disconnected" | "slow" | "cut";

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
const CHUNKED = { "transfer-encoding": "chunked" };
const LAST_CHUNK = "0\r\n\r\n";

interface StreamOptions {
  kind: StreamKind;
  streams: OpenStreams;
  /** Called when the response has ended, whatever the reason. */
  leave?: () => void;
  maxWaitMs?: number;
}

/**
 * [CHAT-16] A response of server-sent events. Never compressed: compression would delay events. After its head it is only
 * this object and a socket: nothing of the request is left, because most streams are idle, and a gateway has thousands.
 */
export class SseStream {
  /** Fires when the client has left or was cut. */
  readonly signal: AbortSignal;
  readonly #kind: StreamKind;
  readonly #streams: OpenStreams;
  readonly #maxWaitMs: number;
  readonly #left = new AbortController();
  #leave: (() => void) | undefined;
  #measure: (() => void) | undefined;
  /** Until the response begins. */
  #reply: FastifyReply | undefined;
  /** From then on. */
  #socket: Socket | undefined;
  #isChunked = false;
  #hasEnded = false;
  /** Cuts a client that does not read the end. */
  #ending: NodeJS.Timeout | undefined;
  #outcome: Outcome = "disconnected";

  constructor(reply: FastifyReply, { kind, streams, leave, maxWaitMs = MAX_WAIT_MS }: StreamOptions) {
    this.#reply = reply;
    this.#kind = kind;
    this.#streams = streams;
    this.#leave = leave;
    this.#maxWaitMs = maxWaitMs;
    this.signal = this.#left.signal;
    reply.raw.once("close", () => this.#closed());
    // The client left while its login was checked.
    if (reply.raw.destroyed) this.#left.abort();
  }

  /** For another response, as long as this one has not begun. */
  get reply(): FastifyReply | undefined {
    return this.#reply;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Bytes that the client has not read. */
  get backlogBytes(): number {
    return this.#socket?.writableLength ?? 0;
  }

  /** Begins the response. From here on, failures can only be events. */
  open(): void {
    const reply = this.#reply;
    if (!reply || this.signal.aborted) return;
    const { raw, request } = reply;
    this.#measure = measureLater(request, reply);
    this.#isChunked = request.raw.httpVersion === "1.1";
    reply.hijack();
    const headers = { ...reply.getHeaders(), ...HEADERS, ...(this.#isChunked && CHUNKED) };
    raw.writeHead(200, headers as Record<string, string>).flushHeaders();
    this.#reply = undefined;
    this.#socket = takeSocket(raw)
      // Nothing to do: a connection that breaks is also closed.
      .on("error", () => {})
      .on("close", () => this.#closed())
      // The client has ended its side. What it sends before that is ignored, but must be read to notice its end.
      .on("end", () => this.#socket?.destroy())
      .resume();
    this.#write(OPENED);
    this.#streams.add(this);
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
    if (!this.#socket || this.signal.aborted || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#outcome = "done";
    this.#ending = setTimeout(() => this.cut("slow"), this.#maxWaitMs);
    if (this.#isChunked) this.#socket.write(LAST_CHUNK);
    this.#socket.destroySoon();
  }

  /** Ends the response without its last event, so that the client connects again. */
  cut(outcome: "slow" | "cut"): void {
    if (this.signal.aborted) return;
    this.#outcome = outcome;
    (this.#socket ?? this.#reply?.raw)?.destroy();
  }

  /** Not while bytes are unsent: it is not needed then, and could come in the middle of an event. */
  beat(): void {
    if (this.backlogBytes === 0) this.#write(HEARTBEAT);
  }

  #write(content: string | Uint8Array): void {
    const socket = this.#socket;
    if (!socket || this.signal.aborted || this.#hasEnded) return;
    // One long event may exceed the limit by itself.
    if (socket.writableLength > MAX_BACKLOG_BYTES) {
      this.cut("slow");
      return;
    }
    if (!this.#isChunked) {
      socket.write(content);
      return;
    }
    socket.cork();
    socket.write(`${Buffer.byteLength(content).toString(16)}\r\n`);
    socket.write(content);
    socket.write("\r\n");
    socket.uncork();
  }

  async #drained(): Promise<void> {
    const socket = this.#socket;
    if (this.signal.aborted || !socket?.writableNeedDrain) return;
    const waited = AbortSignal.any([this.signal, AbortSignal.timeout(this.#maxWaitMs)]);
    await once(socket, "drain", { signal: waited }).catch(() => this.cut("slow"));
  }

  #closed(): void {
    this.#left.abort();
    clearTimeout(this.#ending);
    this.#leave?.();
    if (!this.#socket) return;
    this.#measure?.();
    this.#streams.remove(this);
    chatStreamsEnded.add(1, { kind: this.#kind, outcome: this.#outcome });
  }
}
