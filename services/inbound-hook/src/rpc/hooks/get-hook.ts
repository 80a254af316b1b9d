import type { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { readFigures } from "../../store/hook-figures.ts";
import { findHook } from "../../store/hooks.ts";
import { hookKey, noSuchHook } from "../request-fields.ts";
import { toHook } from "./hook-message.ts";

export const getHook: Handler<ReceiverContext, typeof HookService.method.getHook> = async (
  context,
  { hookId },
  call,
) => {
  const row = await findHook(context.pool, hookKey(principalOf(call), hookId));
  if (!row) throw noSuchHook();
  return { hook: toHook(row, context, (await readFigures(context.pool, [row], context.now())).get(row.id)) };
};
