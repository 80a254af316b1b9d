import type { FastifyInstance } from "fastify";

/** Whoever still sends after this long is cut off. */
const PATIENCE_MS = 5_000;

/**
 * When a connection ends with a response that is sent before its request has come, the rest of the request is read and
 * dropped first, for 5 s at most. Closed with unread bytes, the connection would be reset, and many clients then report an
 * error of the connection instead of the response.
 */
export function lingerOnClose(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw: request }, { raw: response }, done) => {
    // Before node:http, which then calls `destroySoon` if this is the last response of the connection.
    response.prependOnceListener("finish", () => {
      const { socket } = request;
      if (request.complete || socket.destroyed) return;
      const closeNow = socket.destroySoon;
      socket.destroySoon = () => {
        socket.end();
        const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
        socket.once("close", () => clearTimeout(timer));
      };
      request.once("end", () => {
        const isClosing = socket.writableEnded;
        socket.destroySoon = closeNow;
        if (isClosing) socket.destroySoon();
      });
    });
    done();
  });
}
