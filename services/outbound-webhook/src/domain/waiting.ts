import { fullCaps, type QueueCaps } from "@toolgate/postgres/fair-queue/caps";

/** Attempts under way, at one endpoint and around it. */
export interface Slots {
  endpoint: number;
  workspace: number;
  /** Whether the last attempt to this endpoint failed. */
  failing: boolean;
  /** Whether it is in doubt: failing, or an attempt to it takes unusually long. */
  doubtful: boolean;
  /** Of all endpoints of the workspace in doubt. */
  doubtfulEndpoints: number;
}

export type FullCap = "endpoint" | "workspace" | "failing-endpoints" | "none";

export type Waiting =
  | { for: "slot"; since: Date; fullCap: FullCap }
  | { for: "retry"; since: Date; until: Date }
  | { for: "in-flight" }
  | { for: "nothing" };

/** Why an endpoint gets no slot now, the narrowest reason first. */
export function fullCapOf(slots: Slots, caps: QueueCaps): FullCap {
  const { perGroup, perMember, perDoubtful, failingPerGroup } = fullCaps(caps);
  if (slots.endpoint >= (slots.doubtful ? perDoubtful : perMember)) return "endpoint";
  if (slots.doubtful && slots.doubtfulEndpoints >= failingPerGroup) return "failing-endpoints";
  if (slots.workspace >= perGroup) return "workspace";
  return "none";
}

/** What a delivery waits for. The queue is what counts: what is not in it is not tried. */
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
