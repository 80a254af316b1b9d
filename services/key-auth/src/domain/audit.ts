/** What is done to a key, user or workspace, as it stands in the audit log. */
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
  | "role.set"
  | "role.remove"
  | "workspace.create"
  | "workspace.lock"
  | "workspace.unlock";

/** A field before and after; undefined: not there. */
export interface FieldChange {
  field: string;
  before?: unknown;
  after?: unknown;
}

/** The fields that differ between two states of the same thing, compared as JSON. */
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
