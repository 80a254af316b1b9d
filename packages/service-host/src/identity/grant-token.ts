import type { JWTPayload } from "jose";
import { type PrincipalReader, type PrincipalReaderOptions, principalReader } from "./principal-token.ts";
import { PublicKeys } from "./public-keys.ts";
import { createTextReader, type Signing, signText, type TextReader } from "./signed-text.ts";

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

const GRANT = { name: "grant", audience: "toolgate-runs", type: "toolgate-grant+jwt" };

/** Verifies the text of a grant. Rejects with `unauthenticated`, or `unavailable` without key-auth's keys. */
export type GrantReader = TextReader<Grant>;

/** Signs a grant with a key of key-auth, for 60 s. */
export function signGrant({ keyId, ...claims }: Grant, signing: Signing): Promise<string> {
  const { workspaceId, workspace, keyName, tool } = claims;
  return signText(GRANT, { sub: keyId, workspaceId, workspace, keyName, tool }, signing);
}

/** Readers of grants and of principals that load key-auth's keys together. */
export function createGrantReaders({ keySet, now, onError }: PrincipalReaderOptions): {
  grants: GrantReader;
  principals: PrincipalReader;
} {
  const keys = new PublicKeys(keySet, onError);
  return { grants: createTextReader(GRANT, grantIn, { keys, now }), principals: principalReader(keys, now) };
}

function grantIn({ sub, workspaceId, workspace, keyName, tool }: JWTPayload): Grant | undefined {
  const isGrant =
    typeof sub === "string" &&
    typeof workspaceId === "string" &&
    typeof workspace === "string" &&
    typeof keyName === "string" &&
    typeof tool === "string";
  return isGrant ? { keyId: sub, workspaceId, workspace, keyName, tool } : undefined;
}
