import { createClient } from "@connectrpc/connect";
import type { Bus } from "@toolgate/event-bus/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { CallContext, Context } from "../context.ts";
import { routableTarget } from "../domain/addresses.ts";
import type { AnswerLimits } from "../domain/chat/open-answers.ts";
import { BAD_REQUEST, INTERNAL_ERROR } from "../domain/responses.ts";
import { createAllowedOrigins } from "./chat/allowed-origins.ts";
import { browserFileRoutes } from "./chat/browser-files.ts";
import { chatRoutes } from "./chat/chat-routes.ts";
import { consoleRoutes } from "./console/console-routes.ts";
import { createDescriptionCache } from "./descriptions/description-cache.ts";
import { descriptionRoutes } from "./descriptions/description-routes.ts";
import { docsRoutes } from "./docs-routes.ts";
import { hookRoutes, type ReceiveHook } from "./hooks/hook-routes.ts";
import { sendResponse, showLimit } from "./key-api.ts";
import { managementRoutes } from "./management/management-routes.ts";
import { mcpRoutes } from "./mcp/mcp-routes.ts";
import { replaceNodeDefaults } from "./node-http.ts";
import { isChatTarget, isHookTarget, unroutedResponse } from "./paths.ts";
import { addProblemDetails } from "./problem-details.ts";
import { sessionRoutes } from "./sessions/session-routes.ts";
import { addTelemetry, requestIdOf, trustedBy } from "./telemetry.ts";
import { toolRoutes } from "./tools/tool-call.ts";
import { rejectUnparsable } from "./unparsable.ts";
import { eventTypeRoutes } from "./webhooks/event-type-routes.ts";

/** Connections beyond these are closed immediately. */
const MAX_CONNECTIONS = 20_000;
const PLUGIN_TIMEOUT_MS = 120_000;
/** How often the server checks for requests that take too long. */
const SLOW_CHECK_MS = 5_000;
/** Longer than the idle timeout of common proxies, so that the proxy closes a connection first. */
const KEEP_ALIVE_MS = 72_000;

export interface HttpServerOptions {
  calls: CallContext;
  receiveHook: ReceiveHook;
  /** The other services' RPCs, without the hot calls of tools, which are in `calls`. */
  peers: Peers;
  publicUrl: string;
  trustedProxies: string[];
  /** A request that is not complete after this time is cut. */
  requestTimeoutMs: number;
  answerLimits: AnswerLimits;
  /** Publishes the events of chats. */
  bus: Bus;
  log: Logger;
}

/** The one server that the internet reaches. Only the paths of chats send CORS headers ([TOOL-38], [TOOL-39]). */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { calls, peers, trustedProxies, requestTimeoutMs, log } = options;
  const context: Context = {
    ...calls,
    descriptions: createDescriptionCache(createClient(ToolService, peers.transport("tool-runner"))),
    publicUrl: options.publicUrl,
  };
  const chat = createClient(ChatService, peers.transport("chat"));
  const sessions = createClient(SessionService, peers.transport("key-auth"));
  const origins = createAllowedOrigins(chat);
  const isTrusted = trustedBy(trustedProxies);
  const app = fastify({
    logger: false,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    genReqId: (request) => requestIdOf(request, isTrusted),
    exposeHeadRoutes: false,
    // Reading the console's files takes long on a busy machine.
    pluginTimeout: PLUGIN_TIMEOUT_MS,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Requests on open connections still get a response while the server closes.
    return503OnClosing: false,
    http: {
      // Makes two Authorization headers invalid: a proxy could have checked a different one than we do.
      joinDuplicateHeaders: true,
      // Node swaps the two timeouts if the one for headers is longer.
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(SLOW_CHECK_MS, requestTimeoutMs),
      // Node's own response to a request without Host is empty.
      requireHostHeader: false,
    },
    rewriteUrl: (request) => routableTarget(request.url ?? "/"),
    clientErrorHandler: rejectUnparsable,
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  replaceNodeDefaults(app);
  addTelemetry(app, isTrusted);
  addProblemDetails(app);

  const rejectUnrouted = async (request: FastifyRequest, reply: FastifyReply) => {
    const url = request.raw.url ?? "";
    const response = unroutedResponse(url);
    // [IN-15] Hooks and chats have nothing to do with keys.
    if (response.status === 405 && !isChatTarget(url) && !isHookTarget(url)) await showLimit(context, request, reply);
    return sendResponse(reply, response);
  };
  app.setNotFoundHandler(rejectUnrouted);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (request.is404) return rejectUnrouted(request, reply);
    if (error.statusCode !== undefined && error.statusCode < 500) return sendResponse(reply, BAD_REQUEST);
    log.error({ err: error, method: request.method }, "request failed unexpectedly");
    return sendResponse(reply, INTERNAL_ERROR);
  });
  // Bodies are read only by routes that add a parser.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  await app.register(toolRoutes(context));
  await app.register(hookRoutes({ receiveHook: options.receiveHook, slots: calls.slots.hookCalls, log }));
  await app.register(descriptionRoutes(context));
  await app.register(mcpRoutes(context, origins));
  await app.register(eventTypeRoutes(context));
  await app.register(sessionRoutes({ sessions, log, now: calls.now }));
  await app.register(browserFileRoutes);
  await app.register(consoleRoutes(sessions));
  await app.register(docsRoutes);
  const { answerLimits, bus } = options;
  const { uploads, management } = calls.slots;
  await app.register(chatRoutes({ peers, chat, sessions, origins, answerLimits, uploads, bus, log }));
  await app.register(managementRoutes({ peers, sessions, slots: management, log }));
  return app;
}
