import type { Logger } from "@toolgate/service-host/logger";
import type { Peers } from "@toolgate/service-host/peers";
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { createSessions } from "../clients/sessions.ts";
import { createDescribeTools } from "../clients/tool-descriptions.ts";
import { BAD_REQUEST, INTERNAL_ERROR, NOT_FOUND } from "../domain/answers.ts";
import { routableTarget } from "../domain/request-target.ts";
import { allowedMethod } from "./allowed-method.ts";
import { createDescriptionCache } from "./description-cache.ts";
import { descriptionRoutes } from "./description-routes.ts";
import { eventTypeRoutes } from "./event-type-routes.ts";
import { management } from "./management.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { sendAnswer } from "./reply.ts";
import { sessionRoutes } from "./session-routes.ts";
import type { ToolCallDependencies } from "./tool-call.ts";
import { refuseMethod, toolRoutes } from "./tool-routes.ts";
import { refuseUnparsable } from "./unparsable.ts";
import { webhookPullRoutes } from "./webhook-pull-routes.ts";

/** Open at once; further ones are refused by closing them. */
const MAX_CONNECTIONS = 20_000;
/** How often the server looks for requests that are over their time. */
const SLOW_CHECK_MS = 5_000;
/** Longer than the idle time of common proxies, so that they and not we close a connection. */
const KEEP_ALIVE_MS = 72_000;

export interface HttpServerOptions {
  calls: ToolCallDependencies;
  /** Only their RPCs: the hot calls are in `calls`. */
  peers: Pick<Peers, "transport">;
  publicUrl: string;
  trustedProxies: string[];
  /** A request that is not whole after this time is cut. */
  requestTimeoutMs: number;
  log: Logger;
}

/** The one server that the internet reaches. It sends no CORS header anywhere ([TOOL-38], [TOOL-39]). */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { calls, peers, trustedProxies, requestTimeoutMs, log } = options;
  const describeTools = createDescribeTools(peers.transport("tool-runner"));
  const app = fastify({
    logger: false,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    exposeHeadRoutes: false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A call on a kept connection is answered while closing too.
    return503OnClosing: false,
    http: {
      // Two Authorization headers are then none, whichever of them a proxy in front looked at.
      joinDuplicateHeaders: true,
      // Node exchanges the two times where the one for headers is the longer.
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(SLOW_CHECK_MS, requestTimeoutMs),
    },
    rewriteUrl: (request) => routableTarget(request.url ?? "/"),
    clientErrorHandler: refuseUnparsable,
  });
  app.server.maxConnections = MAX_CONNECTIONS;

  const answerUnrouted = (request: FastifyRequest, reply: FastifyReply) => {
    // A method that the router does not know.
    const allow = allowedMethod(request.raw.url ?? "");
    return allow ? refuseMethod(calls, request, reply, allow) : sendAnswer(reply, NOT_FOUND);
  };
  app.setNotFoundHandler(answerUnrouted);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (request.is404) return answerUnrouted(request, reply);
    if (error.statusCode !== undefined && error.statusCode < 500) return sendAnswer(reply, BAD_REQUEST);
    log.error({ err: error, method: request.method }, "request failed unexpectedly");
    return sendAnswer(reply, INTERNAL_ERROR);
  });
  // Only who routes a path reads its bodies.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  await app.register(toolRoutes(calls));
  const descriptions = createDescriptionCache(calls.now);
  await app.register(descriptionRoutes({ calls, describeTools, descriptions, publicUrl: options.publicUrl }));
  await app.register(mcpRoutes({ calls, describeTools, descriptions }));
  await app.register(eventTypeRoutes({ calls, publicUrl: options.publicUrl }));
  await app.register(webhookPullRoutes({ calls, upstream: peers.transport("outbound-webhook") }));
  await app.register(sessionRoutes({ sessions: createSessions(peers.transport("key-auth")), log, now: calls.now }));
  await app.register(management(peers, log));
  return app;
}
