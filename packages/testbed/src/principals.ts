import { generateKeyPairSync, sign } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createRouterTransport, type Transport } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { RunRequestSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { Grant } from "@toolgate/service-host/identity/signed-text";
import { PRINCIPAL_HEADER, type Principal } from "@toolgate/service-host/principal";

/** A key as key-auth's are, and the claims of a principal's text. */
interface SigningKey {
  kid: string;
  /** The public part. */
  jwk: Record<string, unknown>;
  /** A JWT in which everything can be chosen. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): string;
}

type RunCaller = NonNullable<MessageInitShape<typeof RunRequestSchema>["caller"]>;

const LIFE_S = 86_400;
const GRANT_LIFE_S = 10 * 365 * LIFE_S;
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
  return { [PRINCIPAL_HEADER]: principalText(principal) };
}

/** The text of a principal as key-auth gives it to the gateway. */
export function principalText(principal: Principal): string {
  return key().sign(claimsOf(principal));
}

/** The text of a grant, in which everything can be chosen; valid for years, because tests move the clock. */
export function grantText(grant: Grant, claims: Record<string, unknown> = {}, signer = key()): string {
  const { keyId, ...said } = grant;
  const now = Math.floor(Date.now() / 1_000);
  const life = { iat: now, exp: now + GRANT_LIFE_S };
  const all = { ...said, sub: keyId, iss: "toolgate", aud: "toolgate-runs", ...life, ...claims };
  return signer.sign(all, { typ: "toolgate-grant+jwt" });
}

/** A caller of `Run` with what key-auth signs about it: the grant of a key. */
export function signedCaller(
  caller: RunCaller,
  run: { workspaceId: string; workspace: string; tool: string },
): RunCaller {
  if (caller.case !== "key") return caller;
  const { keyId = "", keyName = "" } = caller.value;
  return { case: "key", value: { grant: grantText({ ...run, keyId, keyName }), ...caller.value } };
}

/** Stands in for key-auth where a service only gets its public keys. */
export function testKeyAuth(): Transport {
  return createRouterTransport((router) =>
    router.service(SessionService, { getKeySet: async () => ({ jwksJson: JSON.stringify(await testKeySet()) }) }),
  );
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
