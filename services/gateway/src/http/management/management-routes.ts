import type { ServerResponse } from "node:http";
import type { DescService, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Transport,
} from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { type AuthorizeResponse, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { canonicalIp } from "@toolgate/ip-address/ip-address";
import { accessOf, callableFromOutside } from "@toolgate/service-host/access";
import { errorInterceptor } from "@toolgate/service-host/errors";
import { isLargePage, leaveRoom } from "@toolgate/service-host/leave-room";
import type { Logger } from "@toolgate/service-host/logger";
import type { Peers } from "@toolgate/service-host/peers";
import { CLIENT_ADDRESS_HEADER, PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import { SERVICE_NAMES, SERVICES, type ServiceName } from "@toolgate/service-registry/services";
import { ShareExceeded } from "@toolgate/workspace-share/turn";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ERROR_CODE_HEADER } from "../../domain/error-codes.ts";
import { RETRY_AFTER_HEADER } from "../../domain/responses.ts";
import type { Login } from "../../domain/session-cookie.ts";
import { containsNul } from "../../domain/text.ts";
import { loginOfRequest, memberRoleOf } from "../sessions/login-of-request.ts";
import { upstreamResponse } from "../upstream-response.ts";
import { takeTurn, WEIGHTS, type WorkspaceTurns } from "../workspace-turns.ts";
import { errorCodeInterceptor, nameErrors } from "./error-code.ts";

/** The proto services that have RPCs for people, each with the service that serves it. */
export const MANAGED_SERVICES: readonly (readonly [ServiceName, DescService])[] = SERVICE_NAMES.flatMap((name) =>
  SERVICES[name].rpcs
    // Chats have paths of their own, which check more.
    .filter((rpc) => callableFromOutside(rpc).length > 0 && rpc !== ChatService)
    .map((rpc) => [name, rpc] as const),
);

const MAX_BYTES = 2 * 1024 * 1024;
const JSON_TYPE = /^application\/json *(;|$)/i;
const TIMEOUT_MS = 20_000;

const loginKey = createContextKey<Login>({ kind: "none" });
const addressKey = createContextKey("");
/** Waits for the turn of this request among those of its workspace. */
const turnKey = createContextKey(async (_workspaceId: string): Promise<void> => {});

declare module "fastify" {
  interface FastifyRequest {
    /** Of a management request: its response, which Connect writes to. */
    response: ServerResponse;
  }
}

/** `principal`: as key-auth has signed it. */
type Authorize = (
  context: HandlerContext,
  workspace: string,
) => Promise<Pick<AuthorizeResponse, "principal" | "workspaceId">>;
type UnaryClient = Record<string, (request: Message, options: object) => Promise<Message>>;
type UnaryHandler = (request: Message & { workspace?: string }, context: HandlerContext) => Promise<Message>;

/**
 * Offers the management RPCs of all services as Connect, in JSON over POST only. The gateway finds out who calls; the
 * services decide what that role may do.
 */
export function managementRoutes(peers: Pick<Peers, "transport">, turns: WorkspaceTurns, log: Logger) {
  const authorize = createAuthorize(peers.transport("key-auth"), log);
  return async (app: FastifyInstance): Promise<void> => {
    app.decorateRequest("response");
    app.addHook("onRequest", async (request, reply) => {
      request.response = reply.raw;
      if (request.method !== "POST") {
        const message = "POST is the only method";
        reply.header(ERROR_CODE_HEADER, "UNIMPLEMENTED");
        return reply.code(405).header("allow", "POST").send({ code: "unimplemented", message });
      }
      if (JSON_TYPE.test(request.headers["content-type"] ?? "")) return nameErrors(reply.raw);
      const message = "Content-Type must be application/json";
      reply.header(ERROR_CODE_HEADER, "UNSUPPORTED_MEDIA_TYPE");
      return reply.code(415).header("accept-post", "application/json").send({ code: "invalid_argument", message });
    });
    await app.register(fastifyConnectPlugin, {
      routes: (router) => {
        for (const [name, rpc] of MANAGED_SERVICES) offer(router, rpc, peers.transport(name), authorize, log);
      },
      contextValues: (request) =>
        createContextValues()
          .set(loginKey, loginOfRequest(request))
          .set(addressKey, canonicalIp(request.ip))
          .set(turnKey, (workspaceId) => waitForTurn(turns, workspaceId, request)),
      interceptors: [errorCodeInterceptor, errorInterceptor(log)],
      readMaxBytes: MAX_BYTES,
      // A misspelled field could be a restriction, so it must not be ignored.
      jsonOptions: { ignoreUnknownFields: false },
      grpc: false,
      grpcWeb: false,
    });
  };
}

function offer(
  router: ConnectRouter,
  service: DescService,
  transport: Transport,
  authorize: Authorize,
  log: Logger,
): void {
  const client = createClient(service, transport) as unknown as UnaryClient;
  const handlers: Record<string, UnaryHandler> = {};
  for (const method of callableFromOutside(service)) {
    const needsLogin = accessOf(method) !== Access.PUBLIC;
    handlers[method.localName] = async (request, context) => {
      context.responseHeader.set("cache-control", "no-store");
      if (containsNul(request)) throw new ConnectError("NUL is not allowed in text", Code.InvalidArgument);
      const headers = new Headers({ [CLIENT_ADDRESS_HEADER]: context.values.get(addressKey) });
      let workspaceId = "";
      if (needsLogin) {
        const login = await authorize(context, request.workspace ?? "");
        workspaceId = login.workspaceId;
        await context.values.get(turnKey)(workspaceId);
        headers.set(PRINCIPAL_HEADER, login.principal);
      }
      const { signal } = context;
      const call = client[method.localName] as UnaryClient[string];
      const response = await upstreamResponse(call(request, { headers, signal, timeoutMs: TIMEOUT_MS }), {
        signal,
        log,
      });
      if (isLargePage(response)) await leaveRoom(workspaceId);
      return response;
    };
  }
  router.service(service as DescService & { typeName: string }, handlers as Record<string, never>);
}

/** A list may take long, and its largest pages are megabytes, so a workspace gets two at a time, in turn. */
async function waitForTurn(turns: WorkspaceTurns, workspaceId: string, request: FastifyRequest): Promise<void> {
  try {
    await takeTurn(turns.management, workspaceId, request.raw, request.response, WEIGHTS.management);
  } catch (error) {
    if (!(error instanceof ShareExceeded)) throw error;
    const headers = { [RETRY_AFTER_HEADER]: String(error.retryAfterSeconds) };
    throw new ConnectError(
      "too many simultaneous requests of this workspace: try again",
      Code.ResourceExhausted,
      headers,
    );
  }
}

function createAuthorize(keyAuth: Transport, log: Logger): Authorize {
  const sessions = createClient(SessionService, keyAuth);
  return async ({ values, signal }, workspace) => {
    const login = values.get(loginKey);
    if (login.kind === "none") throw new ConnectError("login required", Code.Unauthenticated);
    if (login.kind === "without-csrf-token") {
      throw new ConnectError("X-CSRF-Token missing or wrong", Code.PermissionDenied);
    }
    if (workspace === "") throw new ConnectError("workspace: missing", Code.InvalidArgument);
    const { token } = login;
    const user = await upstreamResponse(sessions.authorize({ token, workspace }), { signal, log });
    if (!memberRoleOf(user.role)) throw new ConnectError("your role does not permit this", Code.PermissionDenied);
    return user;
  };
}
