import { createHash, timingSafeEqual } from "node:crypto";
import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { Access, access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import type { PrincipalReader } from "./identity/principal-token.ts";
import { type MemberRole, PRINCIPAL_HEADER, principalKey } from "./principal.ts";

/** Shows that a call comes from a service of this installation. */
export const INTERNAL_TOKEN_HEADER = "toolgate-internal-token";

/** The roles that may call an RPC with this access; undefined: the internal token is enough. */
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

/** How a server finds out who calls. */
export interface Authentication {
  internalToken: string;
  principals: PrincipalReader;
}

/**
 * Refuses calls without the internal token, and management calls of users whose role is not enough. Handlers get the
 * user from `principalOf`.
 */
export function accessInterceptor({ internalToken, principals }: Authentication): Interceptor {
  const isInternal = internalTokenCheck(internalToken);
  return (next) => async (request) => {
    if (!isInternal(request.header.get(INTERNAL_TOKEN_HEADER) ?? ""))
      throw new ConnectError("internal token missing or wrong", Code.Unauthenticated);
    const admitted = ROLES_ADMITTED.get(accessOf(request.method));
    if (admitted) {
      const sent = request.header.get(PRINCIPAL_HEADER);
      if (!sent) throw new ConnectError("login required", Code.Unauthenticated);
      const principal = principals.known(sent) ?? (await principals.read(sent));
      if (!admitted.includes(principal.role))
        throw new ConnectError("your role does not permit this", Code.PermissionDenied);
      request.contextValues.set(principalKey, principal);
    }
    return next(request);
  };
}

/** Tells the internal token from others, in a time that does not depend on where they differ. */
export function internalTokenCheck(internalToken: string): (token: string) => boolean {
  const expected = digest(internalToken);
  return (token) => timingSafeEqual(digest(token), expected);
}

/** `timingSafeEqual` requires equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Adds the internal token to every call of a client. */
export function internalTokenInterceptor(internalToken: string): Interceptor {
  return (next) => (request) => {
    request.header.set(INTERNAL_TOKEN_HEADER, internalToken);
    return next(request);
  };
}
