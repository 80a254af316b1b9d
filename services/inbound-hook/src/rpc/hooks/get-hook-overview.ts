import type { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { ReceiverContext } from "../../context.ts";
import { listFailingHooks } from "../../store/failing-hooks.ts";

export const getHookOverview: Handler<ReceiverContext, typeof HookService.method.getHookOverview> = async (
  { pool },
  _request,
  call,
) => {
  const rows = await listFailingHooks(pool, principalOf(call).workspaceId);
  return {
    failing: rows.map(({ id, name, refusedInARow, refusedSince, lastReceivedAt }) => ({
      id: BigInt(id),
      name,
      refusedInARow,
      refusedSince: timestampOf(refusedSince),
      ...(lastReceivedAt && { lastReceivedAt: timestampOf(lastReceivedAt) }),
    })),
  };
};
