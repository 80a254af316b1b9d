import { isDeepStrictEqual } from "node:util";
import type { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { announceChange } from "@toolgate/service-host/announce";
import { editConflict } from "@toolgate/service-host/edit-conflict";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { epochScope, settingsViolation } from "../../domain/hook.ts";
import { readFigures } from "../../store/hook-figures.ts";
import { type EditableFields, findHook, type HookRow, lockHook, updateHook as updateRow } from "../../store/hooks.ts";
import { auditHook } from "../record-change.ts";
import { hookKey, noSuchHook, refuseIf } from "../request-fields.ts";
import { checkedArguments } from "./check-target.ts";
import { argumentsOf, toHook } from "./hook-message.ts";

export const updateHook: Handler<ReceiverContext, typeof HookService.method.updateHook> = async (
  context,
  request,
  call,
) => {
  const principal = principalOf(call);
  const key = hookKey(principal, request.hookId);
  const known = await findHook(context.pool, key);
  if (!known) throw noSuchHook();
  const { limit, toleranceSeconds, active, expectedVersion } = request;
  const name = request.name?.trim();
  const args = argumentsOf(request.arguments);
  refuseIf(settingsViolation(known.format, { name, limit, toleranceSeconds }));
  const fields: Partial<EditableFields> = {
    ...(name !== undefined && { name }),
    ...(limit !== undefined && { limit }),
    ...(toleranceSeconds !== undefined && { toleranceSeconds }),
    ...(active !== undefined && { active }),
    // Before the row is locked, because the check calls another service.
    ...(args && { arguments: await checkedArguments(context.targets, key.workspaceId, known.target, args) }),
  };
  const row: HookRow = await inTransaction(context.pool, async (client) => {
    const before = await lockHook(client, key);
    if (!before || before.deletedAt) throw noSuchHook();
    if (expectedVersion !== undefined && expectedVersion !== before.version) throw editConflict(before);
    const wanted = { ...before, ...fields };
    const edited = editedFields(before, wanted);
    const isSwitched = before.active !== wanted.active;
    if (edited.length === 0 && !isSwitched) return before;
    const at = context.now();
    const after = await updateRow(client, before.id, wanted, { savedBy: principal.email, savedAt: at });
    if (edited.length > 0) await auditHook(client, after, { principal, at, action: "hook.edit", fields: edited });
    if (isSwitched) {
      const action = after.active ? "hook.activate" : "hook.deactivate";
      await auditHook(client, after, { principal, at, action, fields: ["active"] });
    }
    return after;
  });
  // Also when nothing changed: the call may repeat one that could not be announced.
  await announceChange(context.epochs, epochScope(row.id));
  return { hook: toHook(row, context, (await readFigures(context.pool, [row], context.now())).get(row.id)) };
};

function editedFields(before: HookRow, after: HookRow): string[] {
  const fields = ["name", "arguments", "limit", "toleranceSeconds"] as const;
  return fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
}
