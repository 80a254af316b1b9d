import { auditRow, writeAuditEntry } from "@toolgate/audit-trail/write";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Principal } from "@toolgate/service-host/principal";
import type { HookRow } from "../store/hooks.ts";
import { SCHEMA } from "../store/queue.ts";

interface Change {
  principal: Principal;
  at: Date;
  action:
    | "hook.create"
    | "hook.edit"
    | "hook.activate"
    | "hook.deactivate"
    | "hook.rotate"
    | "hook.delete"
    | "hook.reprocess";
  fields?: readonly string[];
}

type AuditedHook = Pick<HookRow, "id" | "name">;

/** Audits an action on a hook, in the same transaction. */
export function auditHook(db: Queryable, hook: AuditedHook, change: Change): Promise<void> {
  return writeAuditEntry(db, SCHEMA, entryOf(hook, change));
}

/** The entry's row, for a statement that writes it together with the action. */
export function hookAuditRow(hook: AuditedHook, change: Change) {
  return auditRow(entryOf(hook, change));
}

function entryOf(hook: AuditedHook, change: Change) {
  return { ...change, targetId: String(hook.id), target: hook.name };
}
