import type { webcrypto } from "node:crypto";
import { createGrantReaders, type Grant, signGrant } from "@toolgate/service-host/identity/grant-token";
import { signPrincipal } from "@toolgate/service-host/identity/principal-token";
import { type Cost, costOf } from "./cost.ts";

const GRANT: Grant = { workspaceId: "ws_1", workspace: "acme", keyId: "key_1", keyName: "Partner", tool: "invoice" };
const USER = { userId: "u_1", email: "a@acme.example", workspaceId: "ws_1", workspace: "acme", role: "admin" } as const;
/** More than one measurement reads. */
const TEXTS = 6_000;

/** What it costs to sign and to check who may do what. Calls share a signed text for 30 s. */
export async function measureSignedTexts(): Promise<Cost[]> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const { publicKey, privateKey: key } = pair as webcrypto.CryptoKeyPair;
  const kid = "bench";
  const { kty = "", crv = "", x = "" } = await crypto.subtle.exportKey("jwk", publicKey);
  const jwk = { kty, crv, x, kid, alg: "EdDSA", use: "sig" };
  const now = new Date();
  const signing = { key, kid, now };
  const { grants } = createGrantReaders({
    keySet: async () => ({ keys: [jwk] }),
    now: () => now.getTime(),
    onError: console.error,
  });
  const texts: string[] = [];
  for (let n = 0; n < TEXTS; n += 1) texts.push(await signGrant({ ...GRANT, tool: `tool_${n}` }, signing));
  const known = texts[0] as string;
  await grants.read(known);
  let next = 1;
  return [
    await costOf("sign a grant", () => signGrant(GRANT, signing)),
    await costOf("sign a principal", () => signPrincipal(USER, signing)),
    await costOf("check a grant for the first time", () => grants.read(texts[next++ % TEXTS] as string), TEXTS / 2),
    await costOf("check a grant that is known", () => grants.known(known)),
  ];
}
