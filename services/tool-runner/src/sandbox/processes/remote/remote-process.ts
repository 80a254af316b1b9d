import type { LaneName } from "../../lanes.ts";
import type { GuestSettings } from "../../protocol/messages.ts";
import type { EngineProcess, ProcessEnd, ProcessEvents, Reading } from "../engine-process.ts";
import type { Connection } from "./connection.ts";
import { FROM_SANDBOX, TO_SANDBOX, WINDOW_BYTES, wholeNumber } from "./messages.ts";

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
  #lane: LaneName = "ordinary";
  #reading: Reading | undefined;
  #end: ProcessEnd | undefined;
  #lastStep = 0;
  #ended = false;
  #unread = 0;
  #onRead: (() => void) | undefined;
  #onBegun: ((begun: number) => void) | undefined;

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
    this.#connection?.send(TO_SANDBOX.data, bytes);
    if (this.#unread <= WINDOW_BYTES) onWritten();
    else this.#onRead = onWritten;
  }

  setLane(lane: LaneName): void {
    this.#lane = lane;
    this.#connection?.send(TO_SANDBOX.lane, Buffer.from(lane));
  }

  reading(): Reading | undefined {
    return this.#reading;
  }

  currentStep(): number {
    return this.#lastStep;
  }

  takeBack(lastStep: number, onBegun: (begun: number) => void): void {
    this.#onBegun = onBegun;
    this.#connection?.send(TO_SANDBOX.takeBack, wholeNumber(lastStep));
  }

  rest(): void {
    this.#connection?.send(TO_SANDBOX.rest);
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
    connection.send(TO_SANDBOX.lane, Buffer.from(this.#lane));
  }

  #receive(kind: number, body: Buffer): void {
    if (kind === FROM_SANDBOX.data) this.#events.onData(body);
    else if (kind === FROM_SANDBOX.written) this.#wasRead(body.readUInt32LE(0));
    else if (kind === FROM_SANDBOX.reading) {
      this.#reading = JSON.parse(body.toString()) as Reading;
      this.#lastStep = this.#reading.step;
    } else if (kind === FROM_SANDBOX.takenBack) {
      this.#lastStep = body.readUInt32LE(0);
      this.#onBegun?.(this.#lastStep);
      this.#onBegun = undefined;
    } else if (kind === FROM_SANDBOX.end) {
      const { step, ...end } = JSON.parse(body.toString()) as ProcessEnd & { step: number };
      this.#lastStep = step;
      this.#end = end;
    } else if (kind === FROM_SANDBOX.draining) this.#events.onDraining?.();
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
    // Nobody knows what it began: runs without effects begin again elsewhere, and the others are cut off.
    if (this.#end === undefined) this.#lastStep = Number.POSITIVE_INFINITY;
    this.#onRead = undefined;
    this.#events.onEnd(this.#end ?? LOST);
  }
}
