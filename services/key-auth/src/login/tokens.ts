import { createHash } from "node:crypto";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, SignJWT } from "jose";
import type { SessionReference } from "../store/sessions.ts";
import type { SigningKeyRow } from "../store/signing-keys.ts";
import { createSigners, JWT_ALGORITHM } from "./signing-keys.ts";

export interface Tokens {
  /** A JWT with the session's id. */
  issueJwt(session: { id: string; userId: string; email: string; expiresAt: Date }): Promise<string>;
  /** The session that a token refers to; it may not exist. Undefined for an invalid JWT. */
  sessionOf(token: string): Promise<SessionReference | undefined>;
  /** The public keys that JWTs are verified with. */
  keySet(): Promise<JSONWebKeySet>;
}

const ISSUER = "toolgate";
const AUDIENCE = "toolgate";
const MAX_TOKEN_CHARACTERS = 4_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createTokens(deps: {
  /** Newest first. */
  signingKeys: () => Promise<SigningKeyRow[]>;
  box: SecretBox;
  now: () => Date;
}): Tokens {
  const { signingKeys, now } = deps;
  const newestSigner = createSigners(deps);

  async function keySet(): Promise<JSONWebKeySet> {
    const keys = await signingKeys();
    return { keys: keys.map(({ publicJwk }) => publicJwk) as JSONWebKeySet["keys"] };
  }

  async function readJwt(token: string): Promise<SessionReference | undefined> {
    // Read for each token, so that a key that another replica has just created is known.
    const keys = createLocalJWKSet(await keySet());
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: [JWT_ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        currentDate: now(),
        requiredClaims: ["exp", "sub"],
      });
      return typeof payload.sid === "string" && UUID.test(payload.sid) ? { id: payload.sid } : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    keySet,
    async issueJwt(session) {
      const { kid, key } = await newestSigner();
      return new SignJWT({ sid: session.id, email: session.email })
        .setProtectedHeader({ alg: JWT_ALGORITHM, typ: "JWT", kid })
        .setSubject(session.userId)
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(now())
        .setExpirationTime(session.expiresAt)
        .sign(key);
    },
    async sessionOf(token) {
      if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
      return token.includes(".") ? readJwt(token) : { tokenHash: hashToken(token) };
    },
  };
}

/** Only the hash of an opaque token is stored. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
