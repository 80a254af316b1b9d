import { fullCaps, type QueueCaps } from "@toolgate/postgres/fair-queue/caps";

/** Attempts under way to an endpoint and in its workspace. */
export interface Slots {
  endpoint: number;
  workspace: number;
  /** The last attempt to this endpoint failed or was slow. */
  failing: boolean;
  /** Attempts to all failing endpoints of the workspace. */
  failingEndpoints: number;
}

export type FullCap = "endpoint" | "workspace" | "failing-endpoints" | "none";

/** Why an endpoint gets no slot now. The most specific reason wins. */
export function fullCapOf(slots: Slots, caps: QueueCaps): FullCap {
  const { perGroup, perMember, perFailing, failingPerGroup } = fullCaps(caps);
  if (slots.endpoint >= (slots.failing ? perFailing : perMember)) return "endpoint";
  if (slots.failing && slots.failingEndpoints >= failingPerGroup) return "failing-endpoints";
  return slots.workspace >= perGroup ? "workspace" : "none";
}
