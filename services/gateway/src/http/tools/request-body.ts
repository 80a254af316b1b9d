import type { IncomingMessage } from "node:http";
import type { Violation } from "../../domain/responses.ts";

export const MAX_BODY_BYTES = 1024 * 1024;

/** A body as received; empty when it could not be read, for the reason in `violation`. */
interface RequestBody {
  bytes: Uint8Array;
  violation?: Violation;
}

const TOO_LARGE = unreadable(`body larger than ${MAX_BODY_BYTES} bytes`);
const CUT_SHORT = unreadable("body ended too early");

function unreadable(message: string): RequestBody {
  return { bytes: new Uint8Array(), violation: { field: "", rule: "body", message } };
}

/**
 * Reads a body. Resolves as soon as it is known to be too large and discards the rest as it arrives, so that a client
 * which sends everything before it reads still gets its response. Never rejects.
 */
export function readBody(request: IncomingMessage): Promise<RequestBody> {
  return new Promise((resolve) => {
    // The client left while its key was verified, so the events below will not fire.
    if (request.destroyed) return resolve(CUT_SHORT);
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
    request.on("end", () => resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) }));
    for (const event of ["error", "close"]) request.on(event, () => resolve(CUT_SHORT));
  });
}
