import { createHash, randomBytes } from "node:crypto";
import type { Queryable } from "@toolgate/postgres/pool";
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { SessionReference } from "../store/sessions.ts";
import { listSigningKeys } from "../store/signing-keys.ts";
import { JWT_ALGORITHM, type Signer } from "./signing-keys.ts";

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

export function createTokens(db: Queryable, signer: () => Promise<Signer>, now: () => Date): Tokens {
  let known: { text: string; keys: ReturnType<typeof createLocalJWKSet> } | undefined;

  async function keySet(): Promise<JSONWebKeySet> {
    const keys = await listSigningKeys(db);
    return { keys: keys.map(({ publicJwk }) => publicJwk) as JSONWebKeySet["keys"] };
  }

  /** Read for each token, so that a key that another replica has just created or withdrawn is known. Imported once. */
  async function verificationKeys() {
    const set = await keySet();
    const text = JSON.stringify(set);
    if (known?.text !== text) known = { text, keys: createLocalJWKSet(set) };
    return known.keys;
  }

  async function readJwt(token: string): Promise<SessionReference | undefined> {
    const keys = await verificationKeys();
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: [JWT_ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        currentDate: now(),
        requiredClaims: ["exp", "sub"],
      });
      return referenceOf(payload);
    } catch {
      return undefined;
    }
  }

  return {
    keySet,
    async issueJwt(session) {
      const { kid, key } = await signer();
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

function referenceOf({ sid }: JWTPayload): SessionReference | undefined {
  return typeof sid === "string" && UUID.test(sid) ? { id: sid } : undefined;
}

const TOKEN_BYTES = 32;

/** An opaque token of a session or a link, with the hash that is stored. */
export function newToken(): { token: string; tokenHash: Buffer } {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return { token, tokenHash: hashToken(token) };
}

/** Only the hash of an opaque token is stored. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
