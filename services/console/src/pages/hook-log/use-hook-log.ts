import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import type * as v from "valibot";
import type { Search } from "../../routes/hook-log.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { useList } from "../../ui/use-list.ts";
import { useWholeList } from "../../ui/use-whole-list.ts";
import { STATUSES } from "./delivery-status.tsx";

export type Filters = Omit<v.InferOutput<typeof Search>, "open" | "at">;

const HOOK_ID = /^[0-9]{1,16}$/;

/** Undefined for what is not a time. */
function timeOf(text: string | undefined): Date | undefined {
  const time = new Date(text ?? "");
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function timestampOf(text: string | undefined) {
  const time = timeOf(text);
  return time && timestampFromDate(time);
}

const hookIdOf = (hook = "") => (HOOK_ID.test(hook) ? BigInt(hook) : 0n);

export function useAcceptedCalls(filters: Filters, isHeld: boolean) {
  const workspace = useWorkspace();
  return useList(
    HookDeliveryService.method.listHookDeliveries,
    {
      workspace,
      hookId: hookIdOf(filters.hook),
      statuses: filters.status ? [STATUSES[filters.status]] : [],
      externalId: filters.external_id ?? "",
      requestId: filters.request_id ?? "",
      receivedFrom: timestampOf(filters.from),
      receivedTo: timestampOf(filters.to),
    },
    { rowsOf: ({ deliveries }) => deliveries, keyOf: ({ id }) => id, isHeld },
  );
}

export function useRefusedCalls(filters: Filters, isHeld: boolean) {
  const workspace = useWorkspace();
  const [from, to] = [timeOf(filters.from), timeOf(filters.to)];
  return useWholeList(
    HookDeliveryService.method.listRefusedCalls,
    { workspace, hookId: hookIdOf(filters.hook), requestId: filters.request_id ?? "" },
    {
      rowsOf: ({ calls }) =>
        calls.filter(({ refusedAt }) => {
          const at = refusedAt && timestampDate(refusedAt);
          return at !== undefined && (!from || at >= from) && (!to || at < to);
        }),
      keyOf: ({ requestId }) => requestId,
      isHeld,
    },
  );
}
