import type { GuestSettings } from "../../protocol/messages.ts";
import type { EngineProcess, ProcessEnd, ProcessEvents } from "../engine-process.ts";
import type { Connection } from "./connection.ts";
import { FROM_SANDBOX, TO_SANDBOX, WINDOW_BYTES } from "./messages.ts";

/** Connects to a sandbox process, sooner or later; `signal` ends the attempts. */
export type Connect = (
  events: { onMessage: (kind: number, body: Buffer) => void; onClose: () => void },
  signal: AbortSignal,
) => Promise<Connection | undefined>;

const LOST: ProcessEnd = { signal: null, code: null, stderr: "the sandbox process is gone", outOfMemory: false };

/** A process that a sandbox process has started. */
export class RemoteProcess implements EngineProcess {
  readonly pid = undefined;
  readonly #events: ProcessEvents;
  readonly #attempts = new AbortController();
  #connection: Connection | undefined;
  #end: ProcessEnd | undefined;
  #ended = false;
  #unread = 0;
  /** What was written before it was connected. */
  #early: Buffer[] = [];
  #onRead: (() => void) | undefined;

  constructor(settings: GuestSettings, connect: Connect, events: ProcessEvents) {
    this.#events = events;
    void this.#open(settings, connect);
  }

  write(bytes: Buffer, onWritten: (error?: Error | null) => void): void {
    if (this.#ended) {
      onWritten(new Error(LOST.stderr));
      return;
    }
    this.#unread += bytes.length;
    if (this.#connection === undefined) this.#early.push(bytes);
    else this.#connection.send(TO_SANDBOX.data, bytes);
    if (this.#unread <= WINDOW_BYTES) onWritten();
    else this.#onRead = onWritten;
  }

  kill(): void {
    this.#attempts.abort();
    this.#connection?.send(TO_SANDBOX.kill);
  }

  async #open(settings: GuestSettings, connect: Connect): Promise<void> {
    const events = {
      onMessage: (kind: number, body: Buffer) => this.#receive(kind, body),
      onClose: () => this.#close(),
    };
    const connection = await connect(events, this.#attempts.signal);
    if (connection === undefined) {
      this.#close();
      return;
    }
    this.#connection = connection;
    connection.send(TO_SANDBOX.spawn, Buffer.from(JSON.stringify(settings)));
    for (const bytes of this.#early.splice(0)) connection.send(TO_SANDBOX.data, bytes);
  }

  #receive(kind: number, body: Buffer): void {
    if (kind === FROM_SANDBOX.data) this.#events.onData(body);
    else if (kind === FROM_SANDBOX.written) this.#wasRead(body.readUInt32LE(0));
    else if (kind === FROM_SANDBOX.end) this.#end = JSON.parse(body.toString()) as ProcessEnd;
    else if (kind === FROM_SANDBOX.draining) this.#events.onDraining?.();
  }

  #wasRead(bytes: number): void {
    this.#unread -= bytes;
    if (this.#unread > WINDOW_BYTES) return;
    const onRead = this.#onRead;
    this.#onRead = undefined;
    onRead?.();
  }

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onRead = undefined;
    this.#events.onEnd(this.#end ?? LOST);
  }
}
