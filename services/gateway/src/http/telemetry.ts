import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";
import { httpDuration } from "@toolgate/telemetry/instruments";
import { type RequestScope, runForRequest } from "@toolgate/telemetry/request";
import { isRequestId, newRequestId, REQUEST_ID_HEADER } from "@toolgate/telemetry/request-id";
import { type Span, SpanKind, SpanStatusCode, spanOf, startSpan } from "@toolgate/telemetry/trace";
import type { FastifyInstance, FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    scope: RequestScope;
    span: Span | undefined;
  }
}

const SERVER_ERROR = 500;
const MS_PER_SECOND = 1_000;

type IsTrusted = (request: IncomingMessage) => boolean;

/** Whether a request comes from one of our own proxies, which may name its id and its trace. */
export function trustedBy(trustedProxies: string[]): IsTrusted {
  if (trustedProxies.length === 0) return () => false;
  const isTrusted = proxyAddr.compile(trustedProxies);
  return ({ socket }) => isTrusted(socket.remoteAddress ?? "", 0);
}

/** The id of a request: the one that a trusted proxy gave it, or else a new one. */
export function requestIdOf(request: IncomingMessage, isTrusted: IsTrusted): string {
  const given = request.headers[REQUEST_ID_HEADER];
  return typeof given === "string" && isRequestId(given) && isTrusted(request) ? given : newRequestId();
}

/** Puts the request id on each response, makes it available while the request is handled, and measures the request. */
export function addTelemetry(app: FastifyInstance, isTrusted: IsTrusted): void {
  app.decorateRequest("scope");
  app.decorateRequest("span");
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    const span = startRequestSpan(request, isTrusted);
    request.span = span;
    request.scope = { requestId: request.id, span: span?.spanContext() };
    runForRequest(request.scope, done);
  });
  // Set again, because reading a body may have lost the current request.
  app.addHook("preValidation", (request, _reply, done) => runForRequest(request.scope, done));
  app.addHook("onResponse", (request, reply, done) => {
    const { method, routeOptions, span } = request;
    const { statusCode: status, elapsedTime } = reply;
    const route = routeOptions.url ?? "none";
    httpDuration.record(elapsedTime / MS_PER_SECOND, { method, route, status });
    if (span) endRequestSpan(span, method, route, status);
    done();
  });
}

/** Recording costs time, so only our proxies may choose what is recorded, not callers. */
function startRequestSpan({ method, id, raw }: FastifyRequest, isTrusted: IsTrusted): Span | undefined {
  const { traceparent, tracestate } = raw.headers;
  const context = { traceparent: textOf(traceparent), tracestate: textOf(tracestate) };
  const parent = isTrusted(raw) ? spanOf(context) : undefined;
  return startSpan(method, parent, { kind: SpanKind.SERVER, attributes: { "toolgate.request_id": id } });
}

/** Node joins the values of a tracestate that was sent in several headers, and refuses a second traceparent. */
const textOf = (header: string | string[] | undefined) => (typeof header === "string" ? header : "");

function endRequestSpan(span: Span, method: string, route: string, status: number): void {
  span.updateName(`${method} ${route}`);
  span.setAttributes({
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": status,
  });
  if (status >= SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
