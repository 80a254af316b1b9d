import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { BAD_REQUEST } from "../domain/responses.ts";
import { sendResponse } from "./key-api.ts";
import { rejectConnect } from "./unparsable.ts";

/** Requests that may wait on a connection for the responses to earlier ones. */
const MAX_PIPELINED = 32;
/** Whoever still sends this long after the response is cut off. */
const LINGER_MS = 5_000;

/** Where the defaults of node:http are not enough. */
export function replaceNodeDefaults(app: FastifyInstance): void {
  respondInsteadOfNode(app);
  queuePipelined(app);
  lingerOnClose(app);
}

/** Requests to which node:http would respond by itself: without a body, or not at all. */
function respondInsteadOfNode(app: FastifyInstance): void {
  const { server } = app;
  server.on("connect", rejectConnect);
  // An expectation that nobody knows changes nothing, so the request gets the response of any other.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  app.addHook("onRequest", (request, reply, done) => {
    const { httpVersion, headers } = request.raw;
    if (headers.host !== undefined || httpVersion === "1.0") return done();
    sendResponse(reply.header("connection", "close"), BAD_REQUEST);
  });
}

/**
 * Handles the requests of a connection one after another, although a client may send them without waiting for responses.
 * A response has its socket once it is the next to be sent; before that, node:http would not tell when its client
 * disconnects, and its slot would be lost.
 */
function queuePipelined(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook("onRequest", ({ raw: { socket } }, { raw: response }, done) => {
    if (response.socket) return done();
    const before = waiting.get(socket) ?? 0;
    if (before >= MAX_PIPELINED) {
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

/**
 * When a connection ends with a response that is sent before its request has come, the rest of the request is read and
 * dropped first, for 5 s at most. Closed with unread bytes, the connection would be reset, and many clients then report an
 * error of the connection instead of the response.
 */
function lingerOnClose(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw: request }, { raw: response }, done) => {
    // Before node:http, which then calls `destroySoon` if this is the last response of the connection.
    response.prependOnceListener("finish", () => {
      const { socket } = request;
      if (request.complete || socket.destroyed) return;
      const closeNow = socket.destroySoon;
      socket.destroySoon = () => {
        socket.end();
        const timer = setTimeout(() => socket.destroy(), LINGER_MS);
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
