import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** Requests that may wait on a connection for the responses to earlier ones. */
const MAX_WAITING = 32;

/**
 * Handles the requests of a connection one after another, although a client may send them without waiting for responses.
 * A response has its socket once it is the next to be sent; before that, node:http would not tell when its client disconnects.
 */
export function queuePipelinedRequests(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook("onRequest", ({ raw: { socket } }, { raw: response }, done) => {
    if (response.socket) return done();
    const before = waiting.get(socket) ?? 0;
    if (before >= MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, before + 1);
    response.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      done();
    });
  });
}
