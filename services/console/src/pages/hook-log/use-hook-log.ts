import { timestampDate } from "@bufbuild/protobuf/wkt";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import type * as v from "valibot";
import type { Search } from "../../routes/hook-log.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { timestampOf } from "../../ui/list/time-range.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { STATUSES } from "./delivery-status.tsx";

export type Filters = Omit<v.InferOutput<typeof Search>, "open" | "at">;

export function useAcceptedCalls(filters: Filters, isHeld: boolean) {
  const workspace = useWorkspace();
  return useList(
    HookDeliveryService.method.listHookDeliveries,
    {
      workspace,
      hookId: BigInt(filters.hook ?? 0),
      statuses: filters.status ? [STATUSES[filters.status]] : [],
      externalId: filters.external_id ?? "",
      requestId: filters.request_id ?? "",
      receivedFrom: timestampOf(filters.from),
      receivedTo: timestampOf(filters.to),
    },
    { rowsOf: ({ deliveries }) => deliveries, keyOf: ({ id }) => id, isHeld },
  );
}

/** The server keeps few of them and has no filter by time. */
export function useRefusedCalls({ hook, request_id, from, to }: Filters, isHeld: boolean) {
  const workspace = useWorkspace();
  const list = useList(
    HookDeliveryService.method.listRefusedCalls,
    { workspace, hookId: BigInt(hook ?? 0), requestId: request_id ?? "" },
    { rowsOf: ({ calls }) => calls, keyOf: ({ requestId }) => requestId, isHeld },
  );
  const rows = list.rows.filter(({ refusedAt }) => {
    const at = refusedAt && timestampDate(refusedAt);
    return at && (!from || at >= new Date(from)) && (!to || at < new Date(to));
  });
  return { ...list, rows };
}
