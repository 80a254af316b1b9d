import type { Queryable } from "@toolgate/postgres/pool";
import type { Principal } from "@toolgate/service-host/principal";
import { type AuditAction, type FieldChange, insertAuditEntry } from "../../store/audit.ts";
import type { KeyRow } from "../../store/keys.ts";

/** Never the secret or its hash. */
const AUDITED_FIELDS = [
  "name",
  "prefix",
  "tools",
  "limit",
  "allowedNetworks",
  "expiresAt",
  "revokedAt",
  "previousSecretValidUntil",
] as const;

/** Writes the audit entry of a change to a key, in the same transaction. Writes nothing when no field changed. */
export async function auditKey(
  db: Queryable,
  change: { principal: Principal; action: AuditAction; before?: KeyRow; after: KeyRow; at: Date },
): Promise<void> {
  const { principal, action, before = {} as Partial<KeyRow>, after, at } = change;
  const changes = changesBetween(before, after);
  if (changes.length === 0) return;
  await insertAuditEntry(db, {
    workspaceId: principal.workspaceId,
    at,
    actor: { id: principal.userId, name: principal.email },
    action,
    targetId: after.id,
    // A refused edit did not rename the key.
    target: action === "key.edit_refused" && before.name ? before.name : after.name,
    changes,
  });
}

/** The audited fields that differ, compared as JSON. */
function changesBetween(before: Partial<KeyRow>, after: KeyRow): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of AUDITED_FIELDS) {
    if (JSON.stringify(before[field] ?? null) === JSON.stringify(after[field])) continue;
    changes.push({ field, before: before[field] ?? undefined, after: after[field] ?? undefined });
  }
  return changes;
}
