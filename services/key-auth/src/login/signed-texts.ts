import { SIGNED_TEXT_LIFE_MS, type Signing } from "@toolgate/service-host/identity/signed-text";
import { LRUCache } from "lru-cache";
import type { Signer } from "./signing-keys.ts";

interface SignedTextsOptions<Claims> {
  sign: (claims: Claims, signing: Signing) => Promise<string>;
  signer: () => Promise<Signer>;
  now: () => number;
  maxCached: number;
}

/** The text that services accept for these claims. It has at least half of its 60 s left. */
export type SignedTexts<Claims> = (claims: Claims) => Promise<string>;

const REUSED_FOR_MS = SIGNED_TEXT_LIFE_MS / 2;

/** The same claims get the same text for 30 s, so that calls cost neither a signature nor a verification each. */
export function createSignedTexts<Claims extends object>(options: SignedTextsOptions<Claims>): SignedTexts<Claims> {
  const { sign, signer, now, maxCached } = options;
  const cached = new LRUCache<string, { text: Promise<string>; signedAtMs: number }>({ max: maxCached });
  return (claims) => {
    const id = JSON.stringify(claims);
    const nowMs = now();
    const found = cached.get(id);
    // A clock that was set back must not keep a text that has long expired for others.
    if (found && Math.abs(nowMs - found.signedAtMs) < REUSED_FOR_MS) return found.text;
    const text = signer().then((signing) => sign(claims, { ...signing, now: new Date(nowMs) }));
    cached.set(id, { text, signedAtMs: nowMs });
    text.catch(() => cached.delete(id));
    return text;
  };
}
