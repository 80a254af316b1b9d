import { Code, ConnectError } from "@connectrpc/connect";
import { type CryptoKey, type JSONWebKeySet, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { MEMBER_ROLES, type MemberRole, type Principal } from "../principal.ts";
import { PRINCIPAL_ALGORITHM, PublicKeys } from "./public-keys.ts";
import { VerifiedTexts } from "./verified-texts.ts";

const ISSUER = "toolgate";
/** Not that of the JWTs of logins, so that neither is taken for the other. */
const AUDIENCE = "toolgate-services";
const TYPE = "toolgate-principal+jwt";
/** How long a principal is valid. */
export const PRINCIPAL_LIFE_MS = 60_000;
/** By how much the clocks of two services may differ. */
export const CLOCK_SKEW_S = 5;

/** Verifies the text of a principal. Rejects with `unauthenticated`, or `unavailable` without key-auth's keys. */
export interface PrincipalReader {
  read(text: string): Promise<Principal>;
  /** What `read` would resolve with, if it is known already. */
  known(text: string): Principal | undefined;
}

interface PrincipalReaderOptions {
  /** The public keys of key-auth. */
  keySet: () => Promise<JSONWebKeySet>;
  now: () => number;
  onError: (error: unknown) => void;
}

/** Signs a principal with a key of key-auth, for 60 s. */
export function signPrincipal(
  { userId, email, workspaceId, workspace, role }: Principal,
  { key, kid, now }: { key: CryptoKey; kid: string; now: Date },
): Promise<string> {
  return new SignJWT({ email, workspaceId, workspace, role })
    .setProtectedHeader({ alg: PRINCIPAL_ALGORITHM, typ: TYPE, kid })
    .setSubject(userId)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(new Date(now.getTime() + PRINCIPAL_LIFE_MS))
    .sign(key);
}

/** Each text is verified once, until it expires. */
export function createPrincipalReader({ keySet, now, onError }: PrincipalReaderOptions): PrincipalReader {
  const keys = new PublicKeys(keySet, onError);
  return new VerifiedTexts(async (text) => {
    const { payload } = await jwtVerify(text, ({ kid }) => keyWith(keys, kid), {
      algorithms: [PRINCIPAL_ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: TYPE,
      requiredClaims: ["exp", "sub"],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(now()),
    }).catch((error: unknown) => {
      throw error instanceof ConnectError ? error : invalid();
    });
    return { value: principalIn(payload), expiresAtMs: (payload.exp ?? 0) * 1_000 };
  }, now);
}

async function keyWith(keys: PublicKeys, kid: string | undefined): Promise<CryptoKey> {
  const key = kid === undefined ? undefined : await keys.find(kid);
  if (!key) throw invalid();
  return key;
}

function principalIn({ sub: userId, email, workspaceId, workspace, role }: JWTPayload): Principal {
  const text = (value: unknown) => {
    if (typeof value !== "string") throw invalid();
    return value;
  };
  if (!MEMBER_ROLES.includes(role as MemberRole)) throw invalid();
  return {
    userId: text(userId),
    email: text(email),
    workspaceId: text(workspaceId),
    workspace: text(workspace),
    role: role as MemberRole,
  };
}

function invalid(): ConnectError {
  return new ConnectError("principal invalid or expired", Code.Unauthenticated);
}
