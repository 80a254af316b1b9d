import { readdirSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";

const RETRY_MS = 200;
const MAX_RETRIES = 5;

/**
 * Gives a process that leads a session of its own a lower priority (a nice value above 0) than this process's. On Linux
 * that takes two steps: each thread has a priority of its own, and those that collect garbage do much of a harmful run's
 * work; and where the kernel shares the processors among sessions, priorities only count within a session, so the session
 * gets it too. A process that has ended is no error.
 */
export function lowerPriority(pid: number, priority: number): void {
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {
      // It has ended already.
    }
  }
  lowerSession(pid, priority, MAX_RETRIES);
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

/** Linux lets users other than root change one session in 100 ms. */
function lowerSession(pid: number, priority: number, retries: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EAGAIN" && retries > 0) {
      setTimeout(() => lowerSession(pid, priority, retries - 1), RETRY_MS).unref();
    }
    // Otherwise it has ended, or the kernel does not group by session.
  }
}
