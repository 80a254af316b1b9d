import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { signPrincipal } from "@toolgate/service-host/identity/principal-token";
import type { Principal } from "@toolgate/service-host/principal";
import type { SigningKeyRow } from "../store/signing-keys.ts";
import { SignedTextCache } from "./signed-text-cache.ts";
import { createSigners } from "./signing-keys.ts";

/** Signs principals. */
export interface Principals {
  /** The text that services accept for this principal. It has at least half of its 60 s left. */
  textOf(principal: Principal): Promise<string>;
}

const MAX_CACHED = 10_000;

/** The same principal gets the same text for 30 s, so that services verify it once and not for each request. */
export function createPrincipals(deps: {
  /** Newest first. */
  signingKeys: () => Promise<SigningKeyRow[]>;
  box: SecretBox;
  now: () => Date;
}): Principals {
  const newestSigner = createSigners(deps);
  const texts = new SignedTextCache({ now: deps.now, maxCached: MAX_CACHED });
  return {
    textOf(principal) {
      const { userId, email, workspaceId, workspace, role } = principal;
      const id = JSON.stringify([userId, email, workspaceId, workspace, role]);
      return texts.get(id, async (now) => signPrincipal(principal, { ...(await newestSigner()), now }));
    },
  };
}
