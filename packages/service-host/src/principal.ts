import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";

/** From the lowest. */
export const MEMBER_ROLES = ["member", "manager", "admin"] as const;

export type MemberRole = (typeof MEMBER_ROLES)[number];

/** The signed-in user of a management call, in the workspace that the request names. */
export interface Principal {
  userId: string;
  email: string;
  workspaceId: string;
  /** The workspace's code. */
  workspace: string;
  role: MemberRole;
}

/** Carries the principal from key-auth, which signs it, through the gateway to services. */
export const PRINCIPAL_HEADER = "toolgate-principal";

/** Carries the client's IP address from the gateway to services. */
export const CLIENT_ADDRESS_HEADER = "toolgate-client-address";

export const principalKey = createContextKey<Principal | undefined>(undefined);

/** The principal of a management RPC; the access interceptor has checked that there is one with a sufficient role. */
export function principalOf(context: HandlerContext): Principal {
  const principal = context.values.get(principalKey);
  if (!principal) throw new ConnectError("no principal", Code.Unauthenticated);
  return principal;
}
