import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** A request as it arrived. */
export type ReceivedRequest = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** The bytes of the body, as they were sent. */
  readonly body: Buffer;
  /** When the body was complete, in Unix milliseconds. */
  readonly receivedAtMs: number;
};

/**
 * What a receiver does with a request; all fields may be combined, and an empty object responds with 200 immediately.
 */
export type Behaviour = {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  /** Waits before the status line. */
  readonly delayMs?: number;
  /** Waits for this before the status line. */
  readonly after?: Promise<void>;
  /** Stops responding: before the status line, or after the headers. */
  readonly hang?: "before-status" | "after-headers";
  /** Cuts the connection: before the status line, or after the headers and the first bytes of the body. */
  readonly close?: "before-status" | "after-headers";
};

/** Responds as `behaviour` says; `gone` ends the waits when the connection or the receiver is closed. */
export async function play(behaviour: Behaviour, response: ServerResponse, gone: AbortSignal): Promise<void> {
  const { status = 200, headers = {}, delayMs = 0, hang, close } = behaviour;
  if (delayMs > 0) await sleep(delayMs, undefined, { signal: gone });
  await behaviour.after;
  if (hang === "before-status") return;
  if (close === "before-status") return void response.destroy();
  response.writeHead(status, headers);
  response.flushHeaders();
  if (hang === "after-headers") return;
  const body = behaviour.body === undefined ? undefined : Buffer.from(behaviour.body as Uint8Array);
  if (close === "after-headers") {
    response.write(body?.subarray(0, 1) ?? "x", () => response.destroy());
    return;
  }
  response.end(body);
}
