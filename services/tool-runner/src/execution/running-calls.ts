import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Counts } from "@toolgate/slots/counts";
import type { IdempotentCall } from "../store/idempotent-calls.ts";

interface Wait {
  idempotentCall: IdempotentCall;
  workspaceId: string;
  /** On the clock of `performance.now`. */
  waitUntil: number;
  signal: AbortSignal;
}

/**
 * Waits for calls that are running. Calls of this process emit their end; for those of other processes, one query at a
 * time reads Postgres.
 */
interface RunningCalls {
  /**
   * True once the call may have ended; false if the time is up, the signal has aborted, or too many callers of the workspace
   * wait.
   */
  until(wait: Wait): Promise<boolean>;
  /** Runs a call of this process. */
  during<T>(idempotentCall: IdempotentCall, run: () => Promise<T>): Promise<T>;
}

const POLL_MS = 100;
const MAX_WAITING = { ofWorkspace: 50, inAll: 1_000 };

/** `findEnded` returns the indexes of the calls that have ended. */
export function createRunningCalls(
  findEnded: (idempotentCalls: readonly IdempotentCall[]) => Promise<readonly number[]>,
): RunningCalls {
  /** Emits the id of a call that may have ended. */
  const ends = new EventEmitter().setMaxListeners(0);
  const awaited = new Map<string, IdempotentCall>();
  const runningHere = new Set<string>();
  const waitingOf = new Counts();
  let waiting = 0;
  let polling = false;

  async function poll(): Promise<void> {
    polling = true;
    while (awaited.size > 0) {
      await sleep(POLL_MS);
      const elsewhere = [...awaited].filter(([id]) => !runningHere.has(id));
      if (elsewhere.length === 0) continue;
      // If the query fails, every caller claims its call again, and gets the error from there.
      const ended = await findEnded(elsewhere.map(([, idempotentCall]) => idempotentCall)).catch(() =>
        elsewhere.keys(),
      );
      for (const index of ended) ends.emit(elsewhere[index]?.[0] ?? "");
    }
    polling = false;
  }

  return {
    async until({ idempotentCall, workspaceId, waitUntil, signal }) {
      const leftMs = Math.ceil(waitUntil - performance.now());
      const tooMany = waiting >= MAX_WAITING.inAll || waitingOf.of(workspaceId) >= MAX_WAITING.ofWorkspace;
      if (tooMany || leftMs <= 0) return false;
      const id = idOf(idempotentCall);
      waiting += 1;
      waitingOf.add(workspaceId, 1);
      awaited.set(id, idempotentCall);
      if (!polling) void poll();
      try {
        await once(ends, id, { signal: AbortSignal.any([signal, AbortSignal.timeout(leftMs)]) });
        return true;
      } catch {
        return false;
      } finally {
        waiting -= 1;
        waitingOf.add(workspaceId, -1);
        if (ends.listenerCount(id) === 0) awaited.delete(id);
      }
    },
    async during(idempotentCall, run) {
      const id = idOf(idempotentCall);
      runningHere.add(id);
      try {
        return await run();
      } finally {
        runningHere.delete(id);
        ends.emit(id);
      }
    },
  };
}

function idOf({ keyId, tool, idempotencyKey }: IdempotentCall): string {
  return JSON.stringify([keyId, tool, idempotencyKey]);
}
