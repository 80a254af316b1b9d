import type { RefusedCall } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { ADVICE, HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";

/** "400 s in the past". */
export function secondsText(seconds: number): string {
  return `${Math.abs(seconds).toLocaleString("en")} s in the ${seconds < 0 ? "past" : "future"}`;
}

/** Why a call was refused. */
export function reasonText({ reason, secondsOff }: RefusedCall): string {
  return secondsOff === undefined ? reason : `${reason}: ${secondsText(secondsOff)}`;
}

/** What to do about it. */
export function adviceOn({ status, secondsOff }: RefusedCall): string {
  return secondsOff === undefined ? (ADVICE[status] ?? "") : HOOK_LOG.clockAdvice;
}
