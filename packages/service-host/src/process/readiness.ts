import { setTimeout as sleep } from "node:timers/promises";

const READY_WITHIN_MS = 2_000;

/** Whether a process may be given work, as reported to its probes. */
export interface Readiness {
  /** Resolves with why the process should get no work, or with nothing when it can work. Never rejects. */
  reasonNotReady(): Promise<string | undefined>;
  /** Aborted once the process drains. */
  readonly draining: AbortSignal;
  /** From now on the process is not ready, so that no new work is routed to it. */
  markDraining(): void;
}

/** The process is ready if `ready` resolves within two seconds. Simultaneous checks share one call. */
export function createReadiness(ready: () => Promise<void>): Readiness {
  const draining = new AbortController();
  let check: Promise<string | undefined> | undefined;
  return {
    draining: draining.signal,
    markDraining: () => draining.abort(),
    async reasonNotReady() {
      check ??= reasonAgainst(ready).finally(() => {
        check = undefined;
      });
      const reason = await check;
      return draining.signal.aborted ? "draining" : reason;
    },
  };
}

async function reasonAgainst(ready: () => Promise<void>): Promise<string | undefined> {
  try {
    await Promise.race([ready(), tooLate()]);
    return undefined;
  } catch (error) {
    return `not ready: ${error instanceof Error ? error.message : "unknown"}`;
  }
}

async function tooLate(): Promise<never> {
  await sleep(READY_WITHIN_MS, undefined, { ref: false });
  throw new Error(`no response within ${READY_WITHIN_MS} ms`);
}
