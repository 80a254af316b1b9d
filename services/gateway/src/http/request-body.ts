import type { IncomingMessage } from "node:http";
import type { Violation } from "../domain/answers.ts";

export const MAX_BODY_BYTES = 1024 * 1024;

/** A body as received, or why there is none. */
export type RequestBody = { ok: true; bytes: Uint8Array } | { ok: false; violation: Violation };

export const EMPTY_BODY = { ok: true, bytes: new Uint8Array() } as const satisfies RequestBody;

const TOO_LARGE = fault(`body larger than ${MAX_BODY_BYTES} bytes`);
const BROKEN_OFF = fault("body ended before its time");

function fault(message: string): RequestBody {
  return { ok: false, violation: { field: "", rule: "body", message } };
}

/**
 * Reads a body. What is too large is known as soon as its length is, and the rest of it is discarded as it arrives: a
 * client that sends everything before it listens still gets its answer. Never rejects.
 */
export function readBody(request: IncomingMessage): Promise<RequestBody> {
  return new Promise((resolve) => {
    // Gone while its key was looked up: none of the events below would come any more.
    if (request.destroyed) return resolve(BROKEN_OFF);
    const chunks: Buffer[] = [];
    let received = Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES ? Number.POSITIVE_INFINITY : 0;
    const take = (chunk?: Buffer) => {
      received += chunk?.length ?? 0;
      if (received <= MAX_BODY_BYTES) return chunk && chunks.push(chunk);
      chunks.length = 0;
      resolve(TOO_LARGE);
    };
    take();
    request.on("data", take);
    request.on("end", () =>
      resolve({ ok: true, bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) }),
    );
    for (const event of ["error", "close"]) request.on(event, () => resolve(BROKEN_OFF));
  });
}
