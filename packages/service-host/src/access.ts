import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { Access, access, callers } from "@toolgate/gen/toolgate/options/v1/access_pb";
import type { ServiceName } from "@toolgate/service-registry/services";
import { callerKey } from "./identity/caller.ts";
import { type CallerReader, SERVICE_TOKEN_HEADER, unknownCaller } from "./identity/service-token.ts";
import type { TextReader } from "./identity/signed-text.ts";
import { type MemberRole, PRINCIPAL_HEADER, type Principal, principalKey } from "./principal.ts";

/** The roles that may call an RPC with this access; undefined: it needs no user. */
const ROLES_ADMITTED = new Map<Access, readonly MemberRole[] | undefined>([
  [Access.INTERNAL, undefined],
  [Access.PUBLIC, undefined],
  [Access.MEMBER, ["member", "manager", "admin"]],
  [Access.MANAGER, ["manager", "admin"]],
  [Access.ADMIN, ["admin"]],
]);

/** Who may call an RPC, from its option in the proto file. Throws when the option is missing. */
export function accessOf(method: DescMethod): Access {
  const declared = getOption(method, access);
  if (!ROLES_ADMITTED.has(declared)) throw new Error(`${rpcName(method)} declares no access`);
  return declared;
}

/** The services that may call an RPC: those that its option names, and the gateway if people may call it. */
export function callersOf(method: DescMethod): readonly ServiceName[] {
  const named = getOption(method, callers) as ServiceName[];
  return accessOf(method) === Access.INTERNAL ? named : ["gateway", ...named];
}

/** The RPCs of a service that people may call through the gateway's management API, which has no streams. */
export function callableFromOutside(service: DescService): DescMethod[] {
  return service.methods.filter((method) => method.methodKind === "unary" && accessOf(method) !== Access.INTERNAL);
}

/** Throws one error that names every RPC that declares no access, so that no service starts with one. */
export function assertAccessDeclared(routes: (router: ConnectRouter) => void): void {
  const router = createConnectRouter();
  routes(router);
  const open = router.handlers
    .map(({ method }) => method)
    .filter((method) => !ROLES_ADMITTED.has(getOption(method, access)));
  if (open.length > 0) throw new Error(`no access is declared for ${open.map(rpcName).join(", ")}`);
}

/** The full name, such as `toolgate.key_auth.v1.VerifyService/Verify`. */
export function rpcName(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** How a server finds out who calls: which service, and for which user. */
export interface Authentication {
  callers: CallerReader;
  principals: TextReader<Principal>;
}

/**
 * Refuses calls of services that the RPC does not admit, and management calls of users whose role is not enough.
 * Handlers get the service from `callerOf` and the user from `principalOf`.
 */
export function accessInterceptor({ callers, principals }: Authentication): Interceptor {
  return (next) => async (request) => {
    const { method, header, contextValues } = request;
    const token = header.get(SERVICE_TOKEN_HEADER);
    if (!token) throw unknownCaller();
    const caller = callers.known(token) ?? (await callers.read(token));
    assertMayCall(caller, method);
    contextValues.set(callerKey, caller);
    const admitted = ROLES_ADMITTED.get(accessOf(method));
    if (admitted) {
      const sent = header.get(PRINCIPAL_HEADER);
      if (!sent) throw new ConnectError("login required", Code.Unauthenticated);
      const principal = principals.known(sent) ?? (await principals.read(sent));
      if (!admitted.includes(principal.role))
        throw new ConnectError("your role does not permit this", Code.PermissionDenied);
      contextValues.set(principalKey, principal);
    }
    return next(request);
  };
}

/** Throws with `permission_denied` unless the RPC admits the service. */
export function assertMayCall(caller: ServiceName, method: DescMethod): void {
  if (callersOf(method).includes(caller)) return;
  throw new ConnectError(`${caller} may not call ${rpcName(method)}`, Code.PermissionDenied);
}

/** Adds the calling service's token to every call of a client. */
export function callerInterceptor(tokenFor: (method: DescMethod) => string | Promise<string>): Interceptor {
  return (next) => async (request) => {
    request.header.set(SERVICE_TOKEN_HEADER, await tokenFor(request.method));
    return next(request);
  };
}
