import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type HookDeliverySchema,
  HookDeliveryStatus,
  type HookRunSchema,
} from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { DeliveryRow, DeliveryStatus, RunRow } from "../../store/log/read.ts";
import { invalidArgument } from "../request-fields.ts";

const STATUSES = {
  waiting: HookDeliveryStatus.WAITING,
  running: HookDeliveryStatus.RUNNING,
  succeeded: HookDeliveryStatus.SUCCEEDED,
  failed: HookDeliveryStatus.FAILED,
  interrupted: HookDeliveryStatus.INTERRUPTED,
} as const satisfies Record<DeliveryStatus, HookDeliveryStatus>;

/** The statuses to search for; undefined for all. */
export function statusesOf(values: readonly HookDeliveryStatus[]): DeliveryStatus[] | undefined {
  if (values.length === 0) return undefined;
  const names = Object.keys(STATUSES) as DeliveryStatus[];
  if (values.some((value) => !names.some((name) => STATUSES[name] === value)))
    throw invalidArgument("statuses: not known");
  return names.filter((name) => values.includes(STATUSES[name]));
}

export function toDelivery(row: DeliveryRow): MessageInitShape<typeof HookDeliverySchema> {
  const { id, hookId, hookName, externalId, status, createdAt, runs, durationMs, error, requestId, target } = row;
  return {
    id,
    hookId: BigInt(hookId),
    hookName,
    externalId: externalId ?? "",
    status: STATUSES[status],
    receivedAt: timestampOf(createdAt),
    runs,
    durationMs,
    error,
    requestId,
    target: { target: { case: target.kind, value: target.name } },
  };
}

export function toRun({ status, startedAt, args, ...run }: RunRow): MessageInitShape<typeof HookRunSchema> {
  return { ...run, status: STATUSES[status], startedAt: timestampOf(startedAt), argsJson: args };
}

export function noSuchDelivery(): ConnectError {
  return new ConnectError("no such delivery", Code.NotFound);
}
