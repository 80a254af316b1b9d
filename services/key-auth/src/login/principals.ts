import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { PRINCIPAL_LIFE_MS, signPrincipal } from "@toolgate/service-host/identity/principal-token";
import type { Principal } from "@toolgate/service-host/principal";
import type { SigningKeyRow } from "../store/signing-keys.ts";
import { createSigners } from "./signing-keys.ts";

/** Signs principals. */
export interface Principals {
  /** The text that services accept for this principal. It has at least half of its 60 s left. */
  textOf(principal: Principal): Promise<string>;
}

const REUSED_FOR_MS = PRINCIPAL_LIFE_MS / 2;
const MAX_KEPT = 10_000;

interface Kept {
  text: Promise<string>;
  signedAtMs: number;
}

/** The same principal gets the same text for 30 s, so that services verify it once and not for each request. */
export function createPrincipals(deps: {
  /** Newest first. */
  signingKeys: () => Promise<SigningKeyRow[]>;
  box: SecretBox;
  now: () => Date;
}): Principals {
  const newestSigner = createSigners(deps);
  /** The oldest first. */
  const kept = new Map<string, Kept>();

  async function sign(principal: Principal): Promise<string> {
    return signPrincipal(principal, { ...(await newestSigner()), now: deps.now() });
  }

  return {
    textOf(principal) {
      const { userId, email, workspaceId, workspace, role } = principal;
      const key = JSON.stringify([userId, email, workspaceId, workspace, role]);
      const nowMs = deps.now().getTime();
      const found = kept.get(key);
      // A clock that was set back must not keep a text that has long expired for others.
      if (found && Math.abs(nowMs - found.signedAtMs) < REUSED_FOR_MS) return found.text;
      const text = sign(principal);
      kept.delete(key);
      const [oldest] = kept.keys();
      if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, { text, signedAtMs: nowMs });
      text.catch(() => kept.delete(key));
      return text;
    },
  };
}
