import { type Grant, signGrant } from "@toolgate/service-host/identity/grant-token";
import { SignedTextCache } from "../login/signed-text-cache.ts";
import { createHotSigner } from "../login/signing-keys.ts";

/** Signs what keys may call. */
export interface Grants {
  /** The text that tool-runner accepts for calls of this key. It has at least half of its 60 s left. */
  textOf(grant: Grant): Promise<string>;
}

const MAX_CACHED = 20_000;

/** The same grant gets the same text for 30 s, so that calls of a tool cost neither a signature nor a verification each. */
export function createGrants(deps: Parameters<typeof createHotSigner>[0]): Grants {
  const signer = createHotSigner(deps);
  const texts = new SignedTextCache({ now: deps.now, maxCached: MAX_CACHED });
  return {
    textOf(grant) {
      const { workspaceId, workspace, keyId, keyName, tool } = grant;
      const id = JSON.stringify([workspaceId, workspace, keyId, keyName, tool]);
      return texts.get(id, async (now) => signGrant(grant, { ...(await signer()), now }));
    },
  };
}
