import { SWEEP_EVERY_MS } from "@toolgate/outbound-webhook/roles/dispatcher";
import { ITEMS_PER_EXPIRY, RESULTS_FIRST_MS } from "@toolgate/outbound-webhook/store/deliveries/claim";
import type { Clock } from "./clock.ts";
import type { QueueModel } from "./queue-model.ts";
import type { Item } from "./queue-state.ts";

interface Lease {
  item: Item;
  untilMs: number;
}

/** The leases of claimed items; those that expire are claimed again. */
export class Leases {
  expired = 0;
  readonly #queue: QueueModel;
  readonly #held = new Map<Item, Lease>();

  constructor(queue: QueueModel) {
    this.#queue = queue;
  }

  take(items: readonly Item[], untilMs: number): void {
    for (const item of items) this.#held.set(item, { item, untilMs });
  }

  /** Whether the item still had its lease. */
  end(item: Item): boolean {
    return this.#held.delete(item);
  }

  /** Looks for expired leases from now on. */
  sweep(clock: Clock, onExpired: () => void): void {
    clock.after(SWEEP_EVERY_MS, () => {
      if (this.#expire(clock.nowMs) > 0) onExpired();
      this.sweep(clock, onExpired);
    });
  }

  #expire(nowMs: number): number {
    const expired: Lease[] = [];
    // In the order in which they were taken, which is that in which they expire.
    for (const lease of this.#held.values()) {
      if (lease.untilMs >= nowMs || expired.length === ITEMS_PER_EXPIRY) break;
      expired.push(lease);
    }
    for (const { item } of expired) this.#held.delete(item);
    const settlements = expired.map(({ item }) => ({
      item,
      nextDueMs: Math.max(item.dueMs, nowMs + RESULTS_FIRST_MS),
    }));
    this.#queue.settle(settlements, nowMs);
    this.expired += expired.length;
    return expired.length;
  }
}
