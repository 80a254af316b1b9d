import { Counts } from "./counts.ts";

/** A fixed number of slots for one kind of work, shared by everybody who asks for one. */
export interface Slots {
  /**
   * Takes a slot, at once or after waiting in the holder's line. Dispose it when the work has ended; a second time does
   * nothing. Resolves with undefined when the line is full, after `maxWaitMs`, or when `signal` aborts first.
   *
   * `holder`: who must not take all of them, such as a workspace.
   */
  take(holder: string, signal?: AbortSignal): Promise<Disposable | undefined>;
}

interface SlotOptions {
  /** Requests of one holder that may wait. */
  maxWaiting?: number;
  maxWaitMs?: number;
}

const MAX_WAITING = 100;
const MAX_WAIT_MS = 10_000;

/**
 * A holder may take another slot only while it holds fewer than are free. So one alone gets half of them, and no number
 * of its requests keeps a holder without a slot from getting one. A freed slot goes to the line that has waited longest
 * for its turn among those that may take one.
 */
export function createSlots(
  count: number,
  { maxWaiting = MAX_WAITING, maxWaitMs = MAX_WAIT_MS }: SlotOptions = {},
): Slots {
  /** How many slots each holder has. */
  const held = new Counts();
  /** Who waits, in the order in which lines get a slot. None of them may take one now. */
  const lines = new Map<string, Set<(slot: Disposable) => void>>();
  let free = count;

  const mayTake = (holder: string) => held.of(holder) < free;

  function begin(holder: string): Disposable {
    free -= 1;
    held.add(holder, 1);
    let hasEnded = false;
    return {
      [Symbol.dispose]() {
        if (hasEnded) return;
        hasEnded = true;
        end(holder);
      },
    };
  }

  function end(holder: string): void {
    free += 1;
    held.add(holder, -1);
    serveLines();
  }

  /** Lets requests begin, one of each line after the other, until no line may take a slot. */
  function serveLines(): void {
    let hasBegun = true;
    while (hasBegun) hasBegun = serveNext();
  }

  function serveNext(): boolean {
    for (const [holder, line] of lines) {
      if (!mayTake(holder)) continue;
      const [start] = line;
      lines.delete(holder);
      // Behind the others.
      if (line.size > 1) lines.set(holder, line);
      start?.(begin(holder));
      return true;
    }
    return false;
  }

  function wait(holder: string, signal: AbortSignal | undefined): Promise<Disposable | undefined> {
    const line = lines.get(holder) ?? new Set();
    if (line.size >= maxWaiting || signal?.aborted) return Promise.resolve(undefined);
    lines.set(holder, line);
    return new Promise((resolve) => {
      const settle = (slot?: Disposable) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", leave);
        line.delete(settle);
        resolve(slot);
      };
      const leave = () => {
        settle();
        if (line.size === 0) lines.delete(holder);
      };
      const timer = setTimeout(leave, maxWaitMs);
      signal?.addEventListener("abort", leave);
      line.add(settle);
    });
  }

  return {
    async take(holder, signal) {
      // Who waits already is not overtaken.
      return mayTake(holder) && !lines.has(holder) ? begin(holder) : wait(holder, signal);
    },
  };
}
