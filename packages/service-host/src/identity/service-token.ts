import type { KeyObject } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ServiceName } from "@toolgate/service-registry/services";
import { decodeJwt, jwtVerify, SignJWT } from "jose";
import type { ServicePublicKeys } from "./service-keys.ts";
import { CLOCK_SKEW_S } from "./signed-text.ts";
import { VerifiedTexts } from "./verified-texts.ts";

/** Shows which service of the installation makes a call. */
export const SERVICE_TOKEN_HEADER = "toolgate-service-token";

/** The service that a token proves. Rejects with `unauthenticated`. */
export interface CallerReader {
  read(token: string): Promise<ServiceName>;
  known(token: string): ServiceName | undefined;
}

/** Resolves with the token for calls of a service. */
export type ServiceTokens = (called: ServiceName) => Promise<string>;

const ALGORITHM = "EdDSA";
const TYPE = "toolgate-service+jwt";
const LIFE_MS = 60_000;
const RENEWED_AFTER_MS = 30_000;

/**
 * Signs tokens of one service, each for the service that it calls, so that who gets one cannot use it elsewhere. A token
 * is used for 30 of its 60 s, so that calls cost no signature.
 */
export function createServiceTokens(name: ServiceName, key: KeyObject, now: () => number): ServiceTokens {
  const kept = new Map<ServiceName, { token: Promise<string>; signedAtMs: number }>();
  return (called) => {
    const found = kept.get(called);
    const nowMs = now();
    // A clock that was set back must not keep a token that has long expired for others.
    if (found && Math.abs(nowMs - found.signedAtMs) < RENEWED_AFTER_MS) return found.token;
    const token = new SignJWT()
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(name)
      .setAudience(called)
      .setExpirationTime(new Date(nowMs + LIFE_MS))
      .sign(key);
    kept.set(called, { token, signedAtMs: nowMs });
    return token;
  };
}

/** Reads the tokens of a service's callers. Each is verified once, until it expires. */
export function createCallerReader(called: string, keys: ServicePublicKeys, now: () => number): CallerReader {
  return new VerifiedTexts(async (token) => {
    const caller = issuerOf(token);
    for (const key of keys.get(caller) ?? []) {
      const verified = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        issuer: caller,
        audience: called,
        typ: TYPE,
        requiredClaims: ["exp"],
        clockTolerance: CLOCK_SKEW_S,
        currentDate: new Date(now()),
      }).catch(() => undefined);
      if (verified) return { value: caller, expiresAtMs: (verified.payload.exp ?? 0) * 1_000 };
    }
    throw unknownCaller();
  }, now);
}

/** Not verified yet. */
function issuerOf(token: string): ServiceName {
  try {
    return decodeJwt(token).iss as ServiceName;
  } catch {
    throw unknownCaller();
  }
}

export function unknownCaller(): ConnectError {
  return new ConnectError("service credential missing, wrong or expired", Code.Unauthenticated);
}
