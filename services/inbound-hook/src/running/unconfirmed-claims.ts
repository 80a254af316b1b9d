import type { ClaimIdentity } from "../store/runs/claim.ts";
import type { UndoClaim } from "../store/runs/undo-claim.ts";

/** Claims of this process that failed, although the database may have committed them, or may still do so. */
export interface UnconfirmedClaims {
  add(claim: ClaimIdentity): void;
  /** Undoes those that were committed. Resolves with the number of returned deliveries. */
  undo(): Promise<number>;
}

/** Looks for each claim until its lease expires. From then on its deliveries count as interrupted. */
export function createUnconfirmedClaims(undo: UndoClaim, now: () => Date): UnconfirmedClaims {
  const claims = new Set<ClaimIdentity>();
  return {
    add(claim) {
      claims.add(claim);
    },
    async undo() {
      let returned = 0;
      for (const claim of claims) {
        const undone = await undo(claim, now());
        returned += undone.returned;
        // A claim is one transaction: what was not found with the rest does not exist.
        const isOver = undone.found > 0 && undone.returned === undone.found;
        if (isOver || now() >= claim.leaseUntil) claims.delete(claim);
      }
      return returned;
    },
  };
}
