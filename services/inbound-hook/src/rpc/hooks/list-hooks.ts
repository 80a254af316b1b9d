import type { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { readFigures } from "../../store/hook-figures.ts";
import { listHooks as listRows } from "../../store/hooks.ts";
import { toHook } from "./hook-message.ts";

export const listHooks: Handler<ReceiverContext, typeof HookService.method.listHooks> = async (
  context,
  _request,
  call,
) => {
  const rows = await listRows(context.pool, principalOf(call).workspaceId);
  const figures = await readFigures(context.pool, rows, context.now());
  return { hooks: rows.map((row) => toHook(row, context, figures.get(row.id))) };
};
