import type { DescService, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  type HandlerContext,
  type Transport,
} from "@connectrpc/connect";
import { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { accessOf, callableFromOutside } from "@toolgate/service-host/access";
import type { Logger } from "@toolgate/service-host/logger";
import {
  encodePrincipal,
  PRINCIPAL_HEADER,
  type Principal,
  type Role as RoleName,
} from "@toolgate/service-host/principal";
import { holdsNul } from "../domain/text.ts";
import { addressIn, CLIENT_ADDRESS_HEADER, loginIn } from "./login-of-request.ts";
import { upstreamAnswer } from "./upstream-answer.ts";

/** Where the services that people manage are reached. */
export interface Upstreams {
  keyAuth: Transport;
  toolRunner: Transport;
  outboundWebhook: Transport;
}

/** Whose RPCs are offered to people, where they declare so. */
export const MANAGED_SERVICES: readonly [keyof Upstreams, readonly DescService[]][] = [
  ["keyAuth", [SessionService, KeyService, AuditService]],
  ["toolRunner", [ToolService, DataSourceService, ExecutionService]],
  ["outboundWebhook", [EndpointService, EventService, DeliveryService, ReplayService, UndeliveredService]],
];

const ROLE_NAMES: Partial<Record<Role, RoleName>> = {
  [Role.MEMBER]: "member",
  [Role.MANAGER]: "manager",
  [Role.ADMIN]: "admin",
};

const TIMEOUT_MS = 20_000;

type Authorize = (context: HandlerContext, workspace: string) => Promise<Principal>;
type UnaryClient = Record<string, (request: Message, options: object) => Promise<Message>>;
type UnaryHandler = (request: Message & { workspace?: string }, context: HandlerContext) => Promise<Message>;

/**
 * Offers the management RPCs of all services as Connect (JSON over POST): the gateway finds out who calls, the services
 * decide what that role may do.
 */
export function managementRoutes(upstreams: Upstreams, log: Logger): (router: ConnectRouter) => void {
  const authorize = createAuthorize(upstreams.keyAuth, log);
  return (router) => {
    for (const [upstream, services] of MANAGED_SERVICES) {
      for (const service of services) offer(router, service, upstreams[upstream], { authorize, log });
    }
  };
}

function offer(
  router: ConnectRouter,
  service: DescService,
  transport: Transport,
  { authorize, log }: { authorize: Authorize; log: Logger },
): void {
  const client = createClient(service, transport) as unknown as UnaryClient;
  const handlers: Record<string, UnaryHandler> = {};
  for (const method of callableFromOutside(service)) {
    const forPeople = accessOf(method) !== Access.PUBLIC;
    handlers[method.localName] = async (request, context) => {
      context.responseHeader.set("cache-control", "no-store");
      if (holdsNul(request)) throw new ConnectError("NUL is not allowed in text", Code.InvalidArgument);
      const headers = new Headers({ [CLIENT_ADDRESS_HEADER]: addressIn(context.values) });
      if (forPeople) headers.set(PRINCIPAL_HEADER, encodePrincipal(await authorize(context, request.workspace ?? "")));
      const { signal } = context;
      const call = client[method.localName] as UnaryClient[string];
      return upstreamAnswer(call(request, { headers, signal, timeoutMs: TIMEOUT_MS }), { signal, log });
    };
  }
  router.service(service as DescService & { typeName: string }, handlers as Record<string, never>);
}

function createAuthorize(keyAuth: Transport, log: Logger): Authorize {
  const sessions = createClient(SessionService, keyAuth);
  return async (context, workspace) => {
    const login = loginIn(context.values);
    if (login.kind === "none") throw new ConnectError("login required", Code.Unauthenticated);
    if (login.kind === "without-csrf-token") {
      throw new ConnectError("X-CSRF-Token missing or wrong", Code.PermissionDenied);
    }
    const { token } = login;
    if (workspace === "") throw new ConnectError("workspace: missing", Code.InvalidArgument);
    const { role, ...user } = await upstreamAnswer(sessions.authorize({ token, workspace }), {
      signal: context.signal,
      log,
    });
    const roleName = ROLE_NAMES[role];
    if (!roleName) throw new ConnectError("your role does not permit this", Code.PermissionDenied);
    return { userId: user.userId, email: user.email, workspaceId: user.workspaceId, workspace, role: roleName };
  };
}
