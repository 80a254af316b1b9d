import type { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { ReceiverContext } from "../../context.ts";
import { listRefusedCalls as list } from "../../store/refused-calls.ts";
import { hookKey } from "../request-fields.ts";

export const listRefusedCalls: Handler<ReceiverContext, typeof HookDeliveryService.method.listRefusedCalls> = async (
  { pool },
  { hookId, requestId },
  call,
) => {
  const { workspaceId } = principalOf(call);
  const key = hookId === 0n ? undefined : hookKey({ workspaceId }, hookId);
  const rows = await list(pool, { workspaceId, hookId: key?.hookId, requestId });
  return {
    calls: rows.map(({ hookId: id, refusedAt, secondsOff, ...row }) => ({
      ...row,
      hookId: BigInt(id),
      refusedAt: timestampOf(refusedAt),
      ...(secondsOff !== null && { secondsOff }),
    })),
  };
};
