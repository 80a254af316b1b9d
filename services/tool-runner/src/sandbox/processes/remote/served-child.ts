import type { Socket } from "node:net";
import type { Isolation } from "../../isolation/detect.ts";
import type { GuestSettings } from "../../protocol/messages.ts";
import { LocalProcess } from "../local-process.ts";
import { type Connection, openConnection } from "./connection.ts";
import { FROM_SANDBOX, TO_SANDBOX, WINDOW_BYTES, wholeNumber } from "./messages.ts";

/** Bytes read are reported in portions, well below the window. */
const REPORT_BYTES = WINDOW_BYTES / 4;
const MAX_UNSENT_BYTES = 1024 * 1024;

/** A child of this process that runs for a tool-runner, which is at the other end of the socket. */
export class ServedChild {
  readonly #connection: Connection;
  readonly #isolation: Isolation;
  #process: LocalProcess | undefined;
  #unreported = 0;

  constructor(socket: Socket, head: Buffer, isolation: Isolation, onClose: () => void) {
    this.#isolation = isolation;
    this.#connection = openConnection(socket, head, {
      onMessage: (kind, body) => this.#receive(kind, body),
      onDrain: () => this.#process?.resume(),
      onClose: () => {
        this.#process?.kill();
        onClose();
      },
    });
  }

  leave(): void {
    this.#connection.send(FROM_SANDBOX.draining);
  }

  destroy(): void {
    this.#connection.destroy();
  }

  #receive(kind: number, body: Buffer): void {
    if (kind === TO_SANDBOX.ping) return;
    const process = this.#process;
    if (kind === TO_SANDBOX.spawn) this.#spawn(JSON.parse(body.toString()) as GuestSettings);
    else if (process === undefined) throw new Error("The first message must be `spawn`");
    else if (kind === TO_SANDBOX.data) this.#write(process, body);
    else if (kind === TO_SANDBOX.kill) process.kill();
  }

  #spawn(settings: GuestSettings): void {
    if (this.#process !== undefined) throw new Error("A connection has one child");
    const process = new LocalProcess(settings, this.#isolation, {
      onData: (chunk) => {
        this.#connection.send(FROM_SANDBOX.data, chunk);
        if (this.#connection.unsent() > MAX_UNSENT_BYTES) process.pause();
      },
      onEnd: (end) => {
        this.#connection.send(FROM_SANDBOX.end, Buffer.from(JSON.stringify(end)));
        this.#connection.end();
      },
    });
    this.#process = process;
  }

  #write(process: LocalProcess, bytes: Buffer): void {
    process.write(bytes, (error) => {
      if (error) return;
      this.#unreported += bytes.length;
      if (this.#unreported < REPORT_BYTES) return;
      this.#connection.send(FROM_SANDBOX.written, wholeNumber(this.#unreported));
      this.#unreported = 0;
    });
  }
}
