/** Collects the items added in one tick, and commits them as one batch. */
export interface GroupCommit<T> extends AsyncDisposable {
  /** Resolves once the item's batch is committed. Rejects if that fails, or immediately when too much is waiting. */
  add(item: T): Promise<void>;
}

export interface GroupCommitOptions<T> {
  /** Makes one batch durable. `openedAtMs` is when its first item was added, on the clock of `performance.now`. */
  commit: (items: T[], openedAtMs: number) => Promise<void>;
  maxItems: number;
  /** Bytes of an item, so that a batch stays below `maxBytes`; a larger item gets its own batch. */
  sizeOf?: (item: T) => number;
  maxBytes?: number;
  /** Commits that may run at the same time; meanwhile the next batch grows. Default 2. */
  maxInFlight?: number;
  /** Items that may wait for their commit to start; more are refused. Default 50,000. */
  maxWaitingItems?: number;
  /** Bytes, by `sizeOf`, that may wait for their commit to start; more are refused. Default 64 MiB. */
  maxWaitingBytes?: number;
}

interface Batch<T> {
  items: T[];
  bytes: number;
  openedAtMs: number;
  done: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const MAX_IN_FLIGHT = 2;
const MAX_WAITING_ITEMS = 50_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * One commit for many items: a single item is committed at the end of its tick; under load, batches grow while earlier
 * ones are being committed. All items of a batch share one promise. Disposing commits the items that are left and waits
 * for that; items added afterwards are refused. `waiting` counts the items whose commit has not started.
 */
export function createGroupCommit<T>(options: GroupCommitOptions<T>): GroupCommit<T> & { readonly waiting: number } {
  const { maxItems, sizeOf = () => 0, maxBytes = Number.POSITIVE_INFINITY } = options;
  const { maxInFlight = MAX_IN_FLIGHT } = options;
  const { maxWaitingItems = MAX_WAITING_ITEMS, maxWaitingBytes = MAX_WAITING_BYTES } = options;
  const waiting: Batch<T>[] = [];
  const running = new Set<Promise<void>>();
  let [waitingItems, waitingBytes] = [0, 0];
  let scheduled = false;
  let closed = false;

  function newBatch(): Batch<T> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {});
    const batch = { items: [], bytes: 0, openedAtMs: performance.now(), done: promise, resolve, reject };
    waiting.push(batch);
    return batch;
  }

  async function send({ items, openedAtMs, resolve, reject }: Batch<T>): Promise<void> {
    try {
      await options.commit(items, openedAtMs);
      resolve();
    } catch (error) {
      reject(error);
    }
  }

  function flush(): void {
    scheduled = false;
    while (running.size < maxInFlight) {
      const batch = waiting.shift();
      if (!batch) return;
      waitingItems -= batch.items.length;
      waitingBytes -= batch.bytes;
      const run = send(batch).then(() => {
        running.delete(run);
        flush();
      });
      running.add(run);
    }
  }

  return {
    get waiting() {
      return waitingItems;
    },
    add(item) {
      if (closed) return Promise.reject(new Error("closed: nothing more is committed"));
      const bytes = sizeOf(item);
      if (waitingItems >= maxWaitingItems || (waitingItems > 0 && waitingBytes + bytes > maxWaitingBytes))
        return Promise.reject(new Error(`overloaded: ${waitingItems} items wait to be committed`));
      const last = waiting.at(-1);
      const batch = last && last.items.length < maxItems && last.bytes + bytes <= maxBytes ? last : newBatch();
      batch.items.push(item);
      batch.bytes += bytes;
      waitingItems += 1;
      waitingBytes += bytes;
      if (!scheduled && running.size < maxInFlight) {
        scheduled = true;
        setImmediate(flush);
      }
      return batch.done;
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      flush();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
