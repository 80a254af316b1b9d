const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** About an hour. */
const MAX_ATTEMPTS = 65;

/**
 * When a target that could not be started is due again, after waits that double from 1 s to a minute; undefined after
 * about an hour. Without a reason, this process was too slow or is stopping: it is due immediately, and no attempt
 * counts.
 */
export function nextStart({
  attempt,
  reason,
  now,
}: {
  attempt: number;
  reason: string;
  now: Date;
}): { againAt: Date; nextAttempt: number } | undefined {
  if (reason === "") return { againAt: now, nextAttempt: attempt };
  if (attempt >= MAX_ATTEMPTS) return undefined;
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
  return { againAt: new Date(now.getTime() + waitMs), nextAttempt: attempt + 1 };
}
