import type { JSONWebKeySet, JWTPayload } from "jose";
import { MEMBER_ROLES, type MemberRole, type Principal } from "../principal.ts";
import { PublicKeys } from "./public-keys.ts";
import { createTextReader, type Signing, signText, type TextReader } from "./signed-text.ts";

/** The audience is not that of the JWTs of logins, so that neither is taken for the other. */
const PRINCIPAL = { name: "principal", audience: "toolgate-services", type: "toolgate-principal+jwt" };

/** Verifies the text of a principal. Rejects with `unauthenticated`, or `unavailable` without key-auth's keys. */
export type PrincipalReader = TextReader<Principal>;

export interface PrincipalReaderOptions {
  /** The public keys of key-auth. */
  keySet: () => Promise<JSONWebKeySet>;
  now: () => number;
  onError: (error: unknown) => void;
}

/** Signs a principal with a key of key-auth, for 60 s. */
export function signPrincipal({ userId, ...claims }: Principal, signing: Signing): Promise<string> {
  const { email, workspaceId, workspace, role } = claims;
  return signText(PRINCIPAL, { sub: userId, email, workspaceId, workspace, role }, signing);
}

/** Each text is verified once, until it expires. */
export function createPrincipalReader({ keySet, now, onError }: PrincipalReaderOptions): PrincipalReader {
  return principalReader(new PublicKeys(keySet, onError), now);
}

/** The same with keys that other readers use, too. */
export function principalReader(keys: PublicKeys, now: () => number): PrincipalReader {
  return createTextReader(PRINCIPAL, principalIn, { keys, now });
}

function principalIn({ sub, email, workspaceId, workspace, role }: JWTPayload): Principal | undefined {
  const isPrincipal =
    typeof sub === "string" &&
    typeof email === "string" &&
    typeof workspaceId === "string" &&
    typeof workspace === "string" &&
    MEMBER_ROLES.includes(role as MemberRole);
  return isPrincipal ? { userId: sub, email, workspaceId, workspace, role: role as MemberRole } : undefined;
}
