/** Of a gateway with more calls than it can begin one by one. See `createCallBatches`. */
export interface CallBatches {
  /** Begins a call that came on this connection: at once, or with its batch. Dispose the result when the call has ended. */
  begin(connection: object): Disposable | Promise<Disposable>;
}

/** How long after the last batch the next one begins. */
const BATCH_MS = 4;
/** With so many calls under way a gateway is busy. */
const BUSY_AT = 8;
/** A call that is under way for so long waits for its tool, not for the gateway. */
const LONG_MS = 100;
/** A client is expected to call again within this time. */
const EXPECTED_MS = 1_000;

/**
 * Calls begin at once, until the gateway is busy. Then those that come within 4 ms begin together: Redis, the sandbox, the
 * broker and the services in between get them together too, which costs much less than one after the other, so that calls
 * have to wait less for each other than they wait here. A batch does not wait for clients that are not there: once every
 * connection on which calls have come lately has one under way or waiting, it begins.
 */
export function createCallBatches(): CallBatches {
  let waiting: ((call: Disposable) => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastMs = Number.NEGATIVE_INFINITY;
  const underWay = new CallsUnderWay();
  const callers = new ActiveConnections();

  function beginBatch(): void {
    clearTimeout(timer);
    timer = undefined;
    lastMs = performance.now();
    const batch = waiting;
    waiting = [];
    for (const begin of batch) begin(underWay.add(lastMs));
  }

  return {
    begin(connection) {
      const nowMs = performance.now();
      const expected = callers.countWith(connection, nowMs);
      const others = underWay.count(nowMs);
      const isDue = nowMs - lastMs >= BATCH_MS;
      if (waiting.length === 0 && (isDue || others < BUSY_AT)) {
        lastMs = nowMs;
        return underWay.add(nowMs);
      }
      const { promise, resolve } = Promise.withResolvers<Disposable>();
      waiting.push(resolve);
      if (others + waiting.length >= expected) beginBatch();
      else timer ??= setTimeout(beginBatch, lastMs + BATCH_MS - nowMs);
      return promise;
    },
  };
}

/** Calls that began less than `LONG_MS` to twice that ago and have not ended. */
class CallsUnderWay {
  #before = new Generation();
  #now = new Generation();
  #sinceMs = 0;

  add(nowMs: number): Disposable {
    this.#forget(nowMs);
    this.#now.count += 1;
    return this.#now;
  }

  count(nowMs: number): number {
    this.#forget(nowMs);
    return this.#before.count + this.#now.count;
  }

  #forget(nowMs: number): void {
    const ageMs = nowMs - this.#sinceMs;
    if (ageMs < LONG_MS) return;
    this.#before = ageMs < 2 * LONG_MS ? this.#now : new Generation();
    this.#now = new Generation();
    this.#sinceMs = nowMs;
  }
}

class Generation implements Disposable {
  count = 0;
  [Symbol.dispose](): void {
    this.count -= 1;
  }
}

/** The connections on which a call has come in this period or the last one. */
class ActiveConnections {
  readonly #periodOf = new WeakMap<object, number>();
  #period = 0;
  #before = 0;
  #now = 0;

  /** How many there are, with this one. */
  countWith(connection: object, nowMs: number): number {
    const period = Math.floor(nowMs / EXPECTED_MS);
    if (period !== this.#period) {
      this.#before = period === this.#period + 1 ? this.#now : 0;
      this.#now = 0;
      this.#period = period;
    }
    if (this.#periodOf.get(connection) !== period) {
      this.#periodOf.set(connection, period);
      this.#now += 1;
    }
    return Math.max(this.#before, this.#now);
  }
}
