import { pause } from "@toolgate/service-host/every";
import type { IdempotencyScope } from "../store/idempotent-calls.ts";

/**
 * Waits for calls that are under way. Those of this process tell at once when they end; for all others together there is
 * one question to Postgres at a time, however many wait.
 */
export interface CallWatch {
  /** True once the call may have ended, false when the time is up, the signal has fired, or too many wait. */
  until(scope: IdempotencyScope, giveUpAt: number, signal: AbortSignal): Promise<boolean>;
  /** Runs a call of this process. */
  during<T>(scope: IdempotencyScope, run: () => Promise<T>): Promise<T>;
}

const POLL_MS = 100;
const MAX_WAITING = 200;

interface Waited {
  scope: IdempotencyScope;
  wake: Set<(mayHaveEnded: boolean) => void>;
}

/** `findEnded` says which of the calls, by their place in the list, nobody runs any more. */
export function createCallWatch(
  findEnded: (scopes: readonly IdempotencyScope[]) => Promise<readonly number[]>,
): CallWatch {
  const waited = new Map<string, Waited>();
  const runningHere = new Set<string>();
  const never = new AbortController().signal;
  let waiting = 0;
  let polling = false;

  const wakeAll = (id: string) => {
    for (const wake of waited.get(id)?.wake ?? []) wake(true);
  };

  async function poll(): Promise<void> {
    polling = true;
    while (waited.size > 0) {
      await pause(POLL_MS, never);
      const asked = [...waited].filter(([id]) => !runningHere.has(id));
      if (asked.length === 0) continue;
      try {
        const ended = await findEnded(asked.map(([, { scope }]) => scope));
        for (const place of ended) wakeAll(asked[place]?.[0] ?? "");
      } catch {
        // Each asks again for itself, and hears what is wrong.
        for (const [id] of asked) wakeAll(id);
      }
    }
    polling = false;
  }

  function enter(id: string, scope: IdempotencyScope, wake: (mayHaveEnded: boolean) => void): void {
    const entry = waited.get(id) ?? { scope, wake: new Set() };
    waited.set(id, entry);
    entry.wake.add(wake);
    if (!polling) void poll();
  }

  function leave(id: string, wake: (mayHaveEnded: boolean) => void): void {
    const entry = waited.get(id);
    if (entry?.wake.delete(wake) && entry.wake.size === 0) waited.delete(id);
  }

  return {
    async until(scope, giveUpAt, signal) {
      const patienceMs = giveUpAt - performance.now();
      if (waiting >= MAX_WAITING || patienceMs <= 0 || signal.aborted) return false;
      const id = idOf(scope);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const onAbort = () => resolve(false);
      const timer = setTimeout(onAbort, patienceMs);
      signal.addEventListener("abort", onAbort, { once: true });
      waiting += 1;
      enter(id, scope, resolve);
      try {
        return await promise;
      } finally {
        waiting -= 1;
        leave(id, resolve);
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
    },
    async during(scope, run) {
      const id = idOf(scope);
      runningHere.add(id);
      try {
        return await run();
      } finally {
        runningHere.delete(id);
        wakeAll(id);
      }
    },
  };
}

function idOf({ keyId, tool, idempotencyKey }: IdempotencyScope): string {
  return JSON.stringify([keyId, tool, idempotencyKey]);
}
