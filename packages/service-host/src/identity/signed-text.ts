import { Code, ConnectError } from "@connectrpc/connect";
import { type CryptoKey, type JSONWebKeySet, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { Principal } from "../principal.ts";
import { PRINCIPAL_ALGORITHM, PublicKeys } from "./public-keys.ts";
import { VerifiedTexts } from "./verified-texts.ts";

/** What an API key may do, as key-auth states it for the gateway, which passes it on. */
export interface Grant {
  workspaceId: string;
  /** The workspace's code. */
  workspace: string;
  keyId: string;
  keyName: string;
  /** The tool that may be called; empty for the descriptions of the key's tools. */
  tool: string;
}

/** A kind of text that key-auth signs. Its audience and type keep one kind from being taken for another. */
interface TextKind<T> {
  /** In errors. */
  name: string;
  audience: string;
  type: string;
  /** The member that is the JWT's subject, and the others; all are texts. */
  subject: keyof T & string;
  claims: readonly (keyof T & string)[];
}

/** The audience is not that of the JWTs of logins, so that neither is taken for the other. */
const PRINCIPAL: TextKind<Principal> = {
  name: "principal",
  audience: "toolgate-services",
  type: "toolgate-principal+jwt",
  subject: "userId",
  claims: ["email", "workspaceId", "workspace", "role"],
};
const GRANT: TextKind<Grant> = {
  name: "grant",
  audience: "toolgate-runs",
  type: "toolgate-grant+jwt",
  subject: "keyId",
  claims: ["workspaceId", "workspace", "keyName", "tool"],
};

/** What key-auth signs a text with. */
export interface Signing {
  key: CryptoKey;
  kid: string;
  now: Date;
}

/** Verifies texts. Rejects with `unauthenticated`, or `unavailable` without key-auth's keys. */
export type TextReader<T> = Pick<VerifiedTexts<T>, "read" | "known">;

/** How long texts are valid. */
export const SIGNED_TEXT_LIFE_MS = 60_000;
/** By how much the clocks of two services may differ. */
export const CLOCK_SKEW_S = 5;

const ISSUER = "toolgate";

/** Signs a principal with a key of key-auth, for 60 s. */
export function signPrincipal(principal: Principal, signing: Signing): Promise<string> {
  return signText(PRINCIPAL, principal, signing);
}

/** Signs a grant with a key of key-auth, for 60 s. */
export function signGrant(grant: Grant, signing: Signing): Promise<string> {
  return signText(GRANT, grant, signing);
}

function signText<T extends object>(kind: TextKind<T>, value: T, { key, kid, now }: Signing): Promise<string> {
  const { audience, type, subject, claims } = kind;
  return new SignJWT(Object.fromEntries(claims.map((name) => [name, value[name]])))
    .setProtectedHeader({ alg: PRINCIPAL_ALGORITHM, typ: type, kid })
    .setSubject(String(value[subject]))
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(new Date(now.getTime() + SIGNED_TEXT_LIFE_MS))
    .sign(key);
}

interface ReaderOptions {
  /** The public keys of key-auth. */
  keySet: () => Promise<JSONWebKeySet>;
  now: () => number;
  onError: (error: unknown) => void;
}

/** Readers of principals and of grants, which load key-auth's keys together. Each text is verified once, until it expires. */
export function createTextReaders({ keySet, now, onError }: ReaderOptions): {
  principals: TextReader<Principal>;
  grants: TextReader<Grant>;
} {
  const keys = new PublicKeys(keySet, onError);
  return { principals: createReader(PRINCIPAL, keys, now), grants: createReader(GRANT, keys, now) };
}

function createReader<T extends object>(kind: TextKind<T>, keys: PublicKeys, now: () => number): VerifiedTexts<T> {
  const invalid = () => new ConnectError(`${kind.name} invalid or expired`, Code.Unauthenticated);
  const keyWith = async (kid: string | undefined) => {
    const key = kid === undefined ? undefined : await keys.find(kid);
    if (!key) throw invalid();
    return key;
  };
  return new VerifiedTexts<T>(async (text) => {
    const { payload } = await jwtVerify(text, ({ kid }) => keyWith(kid), {
      algorithms: [PRINCIPAL_ALGORITHM],
      issuer: ISSUER,
      audience: kind.audience,
      typ: kind.type,
      requiredClaims: ["exp", "sub"],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(now()),
    }).catch((error: unknown) => {
      throw error instanceof ConnectError ? error : invalid();
    });
    const value = valueIn(kind, payload);
    if (value === undefined) throw invalid();
    return { value, expiresAtMs: (payload.exp ?? 0) * 1_000 };
  }, now);
}

/** Undefined for claims that are not of this kind. */
function valueIn<T extends object>({ subject, claims }: TextKind<T>, payload: JWTPayload): T | undefined {
  const members = [[subject, payload.sub] as const, ...claims.map((name) => [name, payload[name]] as const)];
  return members.every(([, text]) => typeof text === "string") ? (Object.fromEntries(members) as T) : undefined;
}
