import { randomUUID } from "node:crypto";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Principal } from "@toolgate/service-host/principal";
import { type AuditAction, changesBetween } from "../domain/audit.ts";
import { insertAuditEntry } from "../store/audit.ts";
import type { KeyRow } from "../store/keys.ts";

/** What of a key stands in the audit log when it changes. Neither secret nor hash is among it. */
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

/** Records what a user did to a key, in the transaction of the deed. Nothing is recorded when nothing changed. */
export async function auditKey(
  db: Queryable,
  deed: { principal: Principal; action: AuditAction; before?: KeyRow; after: KeyRow; at: Date },
): Promise<void> {
  const { principal, action, before = {} as Partial<KeyRow>, after, at } = deed;
  const changes = changesBetween<KeyRow>(before, after, AUDITED_FIELDS);
  if (changes.length === 0) return;
  await insertAuditEntry(db, {
    id: randomUUID(),
    workspaceId: principal.workspaceId,
    at,
    actor: { id: principal.userId, name: principal.email },
    action,
    targetId: after.id,
    // The name that a refused edit asked for is not the key's.
    target: action === "key.edit_refused" && before.name ? before.name : after.name,
    changes,
  });
}
