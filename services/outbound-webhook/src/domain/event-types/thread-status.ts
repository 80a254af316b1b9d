import { ThreadStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { oneOf } from "./field.ts";

const STATUSES: Readonly<Record<number, string>> = {
  [ThreadStatus.OPEN]: "open",
  [ThreadStatus.WAITING]: "waiting",
  [ThreadStatus.SNOOZED]: "snoozed",
  [ThreadStatus.RESOLVED]: "resolved",
};

/** [EVT-45] */
export function statusOf(value: ThreadStatus, field: string): string {
  return oneOf(value, STATUSES, field);
}
