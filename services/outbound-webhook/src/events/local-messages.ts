import { randomUUID } from "node:crypto";

/**
 * Attempts that a dispatcher makes in its own process are in messages that are never sent, with ids of this form. As long as
 * one lasts, its process *reserves* it again and again: it sends an empty message with the id that the dispatchers
 * would use next to have the attempts handed back. The broker accepts each id once.
 */
const PREFIX = "local-";

/**
 * By their lease's age: when the process reserves a message, and when the others try to have its attempts handed back. The
 * times between allow for clocks that differ and for pauses. An attempt lasts at most 11 s, and its result waits for 2 s.
 */
export const RESERVATIONS = [
  { reserveAfterMs: 1_000, doubtfulAfterMs: 4_000 },
  { reserveAfterMs: 5_000, doubtfulAfterMs: 8_000 },
  { reserveAfterMs: 10_000, doubtfulAfterMs: 13_000 },
  { reserveAfterMs: 15_000, doubtfulAfterMs: 18_000 },
] as const;

export function newClaimId(local: boolean): string {
  return local ? `${PREFIX}${randomUUID()}` : randomUUID();
}

export function isLocal(messageId: string): boolean {
  return messageId.startsWith(PREFIX);
}

/** The message id of a reservation, the first of which is the message's own. */
export function reservationId(messageId: string, reservation: number): string {
  return reservation === 0 ? messageId : `${messageId}+${reservation}`;
}
