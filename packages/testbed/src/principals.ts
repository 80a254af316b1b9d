import { generateKeyPairSync, sign } from "node:crypto";
import { PRINCIPAL_HEADER, type Principal } from "@toolgate/service-host/principal";

/** A key as key-auth's are, and the claims of a principal's text. */
interface SigningKey {
  kid: string;
  /** The public part. */
  jwk: Record<string, unknown>;
  /** A JWT in which everything can be chosen. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): string;
}

const LIFE_S = 86_400;
let ownKey: SigningKey | undefined;

export function newSigningKey(kid: string): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const jwk = { ...publicKey.export({ format: "jwk" }), kid, alg: "EdDSA", use: "sig" };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    kid,
    jwk,
    sign(claims, header = {}) {
      const text = `${part({ alg: "EdDSA", typ: "toolgate-principal+jwt", kid, ...header })}.${part(claims)}`;
      return `${text}.${sign(null, Buffer.from(text), privateKey).toString("base64url")}`;
    },
  };
}

/** The claims of a principal that is valid for a day, so that no test depends on its speed. */
export function claimsOf({ userId, ...principal }: Principal, nowMs = Date.now()): Record<string, unknown> {
  const now = Math.floor(nowMs / 1_000);
  return { ...principal, sub: userId, iss: "toolgate", aud: "toolgate-services", iat: now, exp: now + LIFE_S };
}

/** What a call of this user carries to a service that verifies with `testKeySet`. */
export function principalHeaders(principal: Principal): Record<string, string> {
  return { [PRINCIPAL_HEADER]: key().sign(claimsOf(principal)) };
}

/** Stands in for key-auth's public keys. */
export async function testKeySet(): Promise<{ keys: Record<string, unknown>[] }> {
  return { keys: [key().jwk] };
}

/** Made once per process. */
function key(): SigningKey {
  ownKey ??= newSigningKey("test");
  return ownKey;
}
