import { type Clock, REAL_CLOCK } from "@toolgate/workspace-share/turn";

/** Decides when calls begin: at once, or together with others when the gateway is busy. */
export interface CallBatches {
  /** Resolves when a call that came on this connection may begin. */
  begin(connection: Connection): BegunCall | Promise<BegunCall>;
}

/** Dispose it when the call has ended; after the first time, that does nothing. */
export interface BegunCall extends Disposable {
  /** Set it once the key is known to be valid and below its limit: then the client may be expected to call again. */
  hasValidKey: boolean;
}

/** A socket. */
export type Connection = { readonly destroyed: boolean };

/** How long after the last batch the next one begins. */
const BATCH_MS = 4;
/** With so many calls under way the gateway is busy. */
const BUSY_AT = 8;
/** A call that takes longer waits for its tool, not for the gateway. */
const LONG_MS = 100;
/** How long after its last call a client is expected to call again. */
const EXPECTED_MS = 1_000;

/**
 * Calls begin at once until the gateway is busy; from then on, those that come within 4 ms begin together. Redis, the
 * sandbox, the broker and the services in between get them together too, which costs much less than one after the other:
 * a call waits up to 4 ms here, and gains more than that later. A batch begins early when no further call is expected, as
 * when a few clients send their next call after each response.
 */
export function createCallBatches(clock: Clock = REAL_CLOCK): CallBatches {
  const underWay = new CallsUnderWay();
  /** When the last call of each connection ended, oldest first. Connections with a call are not in it. */
  const expected = new Map<Connection, number>();
  let waiting: (() => void)[] = [];
  let cancelTimer: (() => void) | undefined;
  let lastMs = Number.NEGATIVE_INFINITY;

  function forgetGone(nowMs: number): void {
    for (const [connection, endedMs] of expected) {
      if (!connection.destroyed && nowMs - endedMs < EXPECTED_MS) return;
      expected.delete(connection);
    }
  }

  function beginNow(connection: Connection, nowMs: number): BegunCall {
    lastMs = nowMs;
    const end = underWay.add(nowMs);
    let hasEnded = false;
    return {
      hasValidKey: false,
      [Symbol.dispose]() {
        if (hasEnded) return;
        hasEnded = true;
        end();
        const endMs = clock.nowMs();
        if (this.hasValidKey) expected.set(connection, endMs);
        forgetGone(endMs);
      },
    };
  }

  function beginBatch(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    const batch = waiting;
    waiting = [];
    for (const begin of batch) begin();
  }

  return {
    begin(connection) {
      const nowMs = clock.nowMs();
      expected.delete(connection);
      const isDue = nowMs - lastMs >= BATCH_MS;
      if (waiting.length === 0 && (isDue || underWay.count(nowMs) < BUSY_AT)) return beginNow(connection, nowMs);
      const { promise, resolve } = Promise.withResolvers<BegunCall>();
      waiting.push(() => resolve(beginNow(connection, clock.nowMs())));
      forgetGone(nowMs);
      if (isDue || expected.size === 0) beginBatch();
      else cancelTimer ??= clock.after(lastMs + BATCH_MS - nowMs, beginBatch);
      return promise;
    },
  };
}

/** Calls that have not ended; one is forgotten when it has taken `LONG_MS` to twice that. */
class CallsUnderWay {
  #older = { count: 0 };
  #newer = { count: 0 };
  #period = 0;

  /** Returns what ends the call. */
  add(nowMs: number): () => void {
    this.#forget(nowMs);
    const calls = this.#newer;
    calls.count += 1;
    return () => {
      calls.count -= 1;
    };
  }

  count(nowMs: number): number {
    this.#forget(nowMs);
    return this.#older.count + this.#newer.count;
  }

  #forget(nowMs: number): void {
    const period = Math.floor(nowMs / LONG_MS);
    if (period === this.#period) return;
    this.#older = period === this.#period + 1 ? this.#newer : { count: 0 };
    this.#newer = { count: 0 };
    this.#period = period;
  }
}
