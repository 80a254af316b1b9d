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

export type Waiting =
  | { for: "slot"; since: Date; fullCap: FullCap }
  | { for: "retry"; since: Date; until: Date }
  | { for: "in-flight" }
  | { for: "nothing" };

/** Why an endpoint gets no slot now. The most specific reason wins. */
export function fullCapOf(slots: Slots, caps: QueueCaps): FullCap {
  const { perGroup, perMember, perFailing, failingPerGroup } = fullCaps(caps);
  if (slots.endpoint >= (slots.failing ? perFailing : perMember)) return "endpoint";
  if (slots.failing && slots.failingEndpoints >= failingPerGroup) return "failing-endpoints";
  return slots.workspace >= perGroup ? "workspace" : "none";
}

/** What a delivery waits for. One that is not in the queue is not tried again. */
export function waitingOf(
  delivery: { createdAt: Date; attemptedAt: Date | null; dueAt: Date | null; leased: boolean; slots: Slots },
  caps: QueueCaps,
  now: Date,
): Waiting {
  const { createdAt, attemptedAt, dueAt, leased, slots } = delivery;
  if (leased) return { for: "in-flight" };
  if (!dueAt) return { for: "nothing" };
  if (dueAt <= now) return { for: "slot", since: dueAt, fullCap: fullCapOf(slots, caps) };
  return { for: "retry", since: attemptedAt ?? createdAt, until: dueAt };
}
