import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";

export type MemberRole = "member" | "manager" | "admin";

/** The signed-in user of a management call, in the workspace that the request names. */
export interface Principal {
  userId: string;
  email: string;
  workspaceId: string;
  /** The workspace's code. */
  workspace: string;
  role: MemberRole;
}

/** Carries the principal from the gateway to services; trusted because of the internal token. */
export const PRINCIPAL_HEADER = "toolgate-principal";

/** Carries the client's IP address from the gateway to services; trusted for the same reason. */
export const CLIENT_ADDRESS_HEADER = "toolgate-client-address";

export const principalKey = createContextKey<Principal | undefined>(undefined);

/** The value of the principal header. */
export function encodePrincipal(principal: Principal): string {
  return Buffer.from(JSON.stringify(principal)).toString("base64url");
}

/** Reads the value of the principal header, which only the gateway writes. Fails with unauthenticated when malformed. */
export function decodePrincipal(value: string): Principal {
  try {
    const principal: unknown = JSON.parse(Buffer.from(value, "base64url").toString("utf8"));
    if (isPrincipal(principal)) return principal;
  } catch {
    // Malformed, as below.
  }
  throw new ConnectError("principal malformed", Code.Unauthenticated);
}

function isPrincipal(value: unknown): value is Principal {
  if (typeof value !== "object" || value === null) return false;
  const members = value as Record<string, unknown>;
  return ["userId", "email", "workspaceId", "workspace", "role"].every((name) => typeof members[name] === "string");
}

/** The principal of a management RPC; the access interceptor has checked that there is one with a sufficient role. */
export function principalOf(context: HandlerContext): Principal {
  const principal = context.values.get(principalKey);
  if (!principal) throw new ConnectError("no principal", Code.Unauthenticated);
  return principal;
}
