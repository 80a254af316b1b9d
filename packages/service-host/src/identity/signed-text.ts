import { Code, ConnectError } from "@connectrpc/connect";
import { type CryptoKey, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { PRINCIPAL_ALGORITHM, type PublicKeys } from "./public-keys.ts";
import { VerifiedTexts } from "./verified-texts.ts";

/** A kind of text that key-auth signs. Its audience and type keep one kind from being taken for another. */
interface TextKind {
  /** In errors. */
  name: string;
  audience: string;
  type: string;
}

/** What key-auth signs a text with. */
export interface Signing {
  key: CryptoKey;
  kid: string;
  now: Date;
}

/** Reads texts of one kind. */
export type TextReader<T> = Pick<VerifiedTexts<T>, "read" | "known">;

/** How long texts are valid. */
export const SIGNED_TEXT_LIFE_MS = 60_000;
/** By how much the clocks of two services may differ. */
export const CLOCK_SKEW_S = 5;

const ISSUER = "toolgate";

/** Signs claims as a text of this kind, for 60 s. */
export function signText(
  { audience, type }: TextKind,
  { sub, ...claims }: JWTPayload & { sub: string },
  { key, kid, now }: Signing,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: PRINCIPAL_ALGORITHM, typ: type, kid })
    .setSubject(sub)
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(new Date(now.getTime() + SIGNED_TEXT_LIFE_MS))
    .sign(key);
}

/**
 * Reads texts of one kind; each is verified once, until it expires. `valueIn` returns undefined for claims that are not of
 * this kind. Rejects with `unauthenticated`, or `unavailable` without key-auth's keys.
 */
export function createTextReader<T>(
  { name, audience, type }: TextKind,
  valueIn: (payload: JWTPayload) => T | undefined,
  { keys, now }: { keys: PublicKeys; now: () => number },
): VerifiedTexts<T> {
  const invalid = () => new ConnectError(`${name} invalid or expired`, Code.Unauthenticated);
  const keyWith = async (kid: string | undefined) => {
    const key = kid === undefined ? undefined : await keys.find(kid);
    if (!key) throw invalid();
    return key;
  };
  return new VerifiedTexts<T>(async (text) => {
    const { payload } = await jwtVerify(text, ({ kid }) => keyWith(kid), {
      algorithms: [PRINCIPAL_ALGORITHM],
      issuer: ISSUER,
      audience,
      typ: type,
      requiredClaims: ["exp", "sub"],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(now()),
    }).catch((error: unknown) => {
      throw error instanceof ConnectError ? error : invalid();
    });
    const value = valueIn(payload);
    if (value === undefined) throw invalid();
    return { value, expiresAtMs: (payload.exp ?? 0) * 1_000 };
  }, now);
}
