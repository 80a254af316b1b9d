import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A body as received; empty where a fault says why it could not be read. */
export interface RequestBytes {
  bytes: Uint8Array;
  fault?: BodyFault;
}

type BodyFault = "too-large" | "cut-short";

/** Of a call of a tool. */
export const MAX_CALL_BYTES = 1024 * 1024;
/** What may be read of a request before anybody knows who sent it: no more than headers may have. */
export const MAX_BYTES_READ_FIRST = 16 * 1024;

/** [TOOL] [IN-19] For bodies that are read under any content type: the router would refuse those that it cannot read. */
export function ignoreContentType(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.headers["content-type"] = undefined;
  done();
}

/**
 * Whether a request says that its body has at most `maxBytes`, and is not compressed. Node.js then takes no more for its
 * body.
 */
export function saysAtMost({ headers }: { headers: IncomingHttpHeaders }, maxBytes: number): boolean {
  const {
    "content-length": length,
    "transfer-encoding": transfer,
    "content-encoding": encoding = "identity",
  } = headers;
  return transfer === undefined && encoding === "identity" && Number(length ?? 0) <= maxBytes;
}

/**
 * Reads a body of at most `maxBytes`. Resolves as soon as it is known to be too large, from Content-Length or at one
 * byte more, and discards the rest as it arrives, so that a client which sends everything before it reads still gets
 * its response. Never rejects.
 */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<RequestBytes> {
  return new Promise((resolve) => {
    const fail = (fault: BodyFault) => resolve({ bytes: new Uint8Array(), fault });
    // The client disconnected before: none of the events below would fire.
    if (request.destroyed) return fail("cut-short");
    const chunks: Buffer[] = [];
    let received = Number(request.headers["content-length"] ?? 0) > maxBytes ? Number.POSITIVE_INFINITY : 0;
    const take = (chunk?: Buffer) => {
      received += chunk?.length ?? 0;
      if (received <= maxBytes) return chunk && chunks.push(chunk);
      fail("too-large");
      // The rest is discarded.
      received = Number.POSITIVE_INFINITY;
      chunks.length = 0;
    };
    take();
    request.on("data", take);
    request.on("end", () => resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) }));
    for (const event of ["error", "close"]) request.on(event, () => fail("cut-short"));
  });
}
