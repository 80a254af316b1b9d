import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";
import { httpDuration } from "@toolgate/telemetry/instruments";
import { runForRequest } from "@toolgate/telemetry/request";
import { isRequestId, newRequestId, REQUEST_ID_HEADER } from "@toolgate/telemetry/request-id";
import type { FastifyInstance } from "fastify";

const MS_PER_SECOND = 1_000;

/** The id of a request: the one that a trusted proxy gave it, or else a new one. */
export function requestIds(trustedProxies: string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return newRequestId;
  const isTrusted = proxyAddr.compile(trustedProxies);
  return ({ headers, socket }) => {
    const given = headers[REQUEST_ID_HEADER];
    if (typeof given !== "string" || !isRequestId(given)) return newRequestId();
    return isTrusted(socket.remoteAddress ?? "", 0) ? given : newRequestId();
  };
}

/** Puts its id on each response, handles each request with its id at hand, and measures it. */
export function addTelemetry(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    runForRequest({ requestId: request.id }, done);
  });
  // Again, as a body may have been read by a callback of the connection.
  app.addHook("preValidation", (request, _reply, done) => runForRequest({ requestId: request.id }, done));
  app.addHook("onResponse", (request, reply, done) => {
    httpDuration.record(reply.elapsedTime / MS_PER_SECOND, {
      method: request.method,
      route: request.routeOptions.url ?? "none",
      status: reply.statusCode,
    });
    done();
  });
}
