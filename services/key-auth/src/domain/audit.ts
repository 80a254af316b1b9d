/** Actions on keys, users and workspaces, as the audit log names them. */
export type AuditAction =
  | "key.create"
  | "key.edit"
  | "key.edit_refused"
  | "key.rotate"
  | "key.revoke"
  | "login.success"
  | "login.failure"
  | "password.change"
  | "password.reset"
  | "password.link"
  | "role.set"
  | "role.remove"
  | "session.end"
  | "invitation.create"
  | "invitation.withdraw"
  | "invitation.accept"
  | "workspace.create"
  | "workspace.lock"
  | "workspace.unlock";

/** Undefined: the field had, or has, no value. */
export interface FieldChange {
  field: string;
  before?: unknown;
  after?: unknown;
}

/** The fields that differ, compared as JSON. */
export function changesBetween<T extends object>(
  before: Partial<T>,
  after: Partial<T>,
  fields: readonly (keyof T & string)[],
): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of fields) {
    if (JSON.stringify(before[field] ?? null) === JSON.stringify(after[field] ?? null)) continue;
    changes.push({ field, before: before[field] ?? undefined, after: after[field] ?? undefined });
  }
  return changes;
}
