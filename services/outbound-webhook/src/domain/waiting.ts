import { slotsToBorrow } from "@toolgate/postgres/fair-queue/borrowing";
import { fullCaps, type QueueCaps } from "@toolgate/postgres/fair-queue/caps";

/** Attempts under way to an endpoint and in its workspace. */
export interface Slots {
  endpoint: number;
  workspace: number;
  /** What the workspace has chosen for each endpoint; null: the default. */
  chosen: number | null;
  /** Whether an attempt to this endpoint has ever succeeded. */
  succeeded: boolean;
  /** The last attempt to this endpoint failed. */
  failing: boolean;
  /** The last attempt to the endpoint failed, or one takes unusually long. */
  suspect: boolean;
  /** Attempts to all suspect endpoints of the workspace. */
  suspectEndpoints: number;
  /** Those of them that go to endpoints which have responded before and take unusually long now. */
  hangingEndpoints: number;
}

export type FullCap = "endpoint" | "workspace" | "suspect-endpoints" | "none";

export type Waiting =
  | { for: "slot"; since: Date; fullCap: FullCap }
  | { for: "retry"; since: Date; until: Date }
  | { for: "in-flight" }
  | { for: "nothing" };

/** Why an endpoint gets no slot now. The most specific reason wins. */
export function fullCapOf(slots: Slots, caps: QueueCaps): FullCap {
  const { perGroup, perMember, maxPerMember, perSuspect, suspectPerGroup } = fullCaps(caps);
  const ordinary = Math.min(slots.chosen ?? perMember, slots.succeeded ? maxPerMember : perMember);
  if (slots.endpoint >= (slots.suspect ? perSuspect : ordinary)) return "endpoint";
  if (slots.suspect && slots.suspectEndpoints >= suspectPerGroup) return "suspect-endpoints";
  const borrowed = slotsToBorrow(caps, slots.suspectEndpoints, slots.hangingEndpoints);
  if (slots.workspace >= perGroup + borrowed) return "workspace";
  return "none";
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
