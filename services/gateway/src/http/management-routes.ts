import type { DescService, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  type HandlerContext,
  type Transport,
} from "@connectrpc/connect";
import { Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { accessOf, callableFromOutside } from "@toolgate/service-host/access";
import type { Logger } from "@toolgate/service-host/logger";
import type { Peers } from "@toolgate/service-host/peers";
import { encodePrincipal, type MemberRole, PRINCIPAL_HEADER, type Principal } from "@toolgate/service-host/principal";
import { SERVICE_NAMES, SERVICES, type ServiceName } from "@toolgate/service-registry/services";
import { holdsNul } from "../domain/text.ts";
import { addressIn, CLIENT_ADDRESS_HEADER, loginIn } from "./login-of-request.ts";
import { upstreamAnswer } from "./upstream-answer.ts";

/** The proto services that have RPCs for people, each with the service that serves it. */
export const MANAGED_SERVICES: readonly (readonly [ServiceName, DescService])[] = SERVICE_NAMES.flatMap((name) =>
  SERVICES[name].rpcs.filter((rpc) => callableFromOutside(rpc).length > 0).map((rpc) => [name, rpc] as const),
);

const ROLE_NAMES: Partial<Record<Role, MemberRole>> = {
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
export function managementRoutes(peers: Pick<Peers, "transport">, log: Logger): (router: ConnectRouter) => void {
  const authorize = createAuthorize(peers.transport("key-auth"), log);
  return (router) => {
    for (const [name, rpc] of MANAGED_SERVICES) offer(router, rpc, peers.transport(name), { authorize, log });
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
