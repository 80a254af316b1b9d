import { HookDeliveryStatus } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import type { CALL_STATUSES } from "../../routes/hook-log.ts";
import type { IconName } from "../../ui/icon.tsx";
import { Status, type Tone } from "../../ui/status.tsx";

export const STATUSES: Readonly<Record<(typeof CALL_STATUSES)[number], HookDeliveryStatus>> = {
  waiting: HookDeliveryStatus.WAITING,
  running: HookDeliveryStatus.RUNNING,
  succeeded: HookDeliveryStatus.SUCCEEDED,
  failed: HookDeliveryStatus.FAILED,
  interrupted: HookDeliveryStatus.INTERRUPTED,
};

const SHOWN: Readonly<Record<HookDeliveryStatus, readonly [tone: Tone, icon: IconName, text: string]>> = {
  [HookDeliveryStatus.UNSPECIFIED]: ["dim", "info", "Unknown"],
  [HookDeliveryStatus.WAITING]: ["dim", "wait", "Waiting"],
  [HookDeliveryStatus.RUNNING]: ["warn", "run", "Running"],
  [HookDeliveryStatus.SUCCEEDED]: ["good", "ok", "Succeeded"],
  [HookDeliveryStatus.FAILED]: ["bad", "bad", "Failed"],
  [HookDeliveryStatus.INTERRUPTED]: ["bad", "warn", "Interrupted"],
};

export function DeliveryStatus({ status }: { status: HookDeliveryStatus }) {
  const [tone, icon, text] = SHOWN[status];
  return (
    <Status tone={tone} icon={icon}>
      {text}
    </Status>
  );
}

/** Whether its run is still to end. */
export function isPending(status: HookDeliveryStatus | undefined): boolean {
  return status === HookDeliveryStatus.WAITING || status === HookDeliveryStatus.RUNNING;
}
