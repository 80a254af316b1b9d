import type { Clock, Processors } from "./clock.ts";
import type { QueueModel } from "./queue-model.ts";
import type { Item } from "./queue-state.ts";
import type { Costs } from "./settings.ts";

interface FanOutOptions {
  clock: Clock;
  processors: Processors;
  database: Processors;
  costs: Costs;
  queue: QueueModel;
  /** The publisher and the receiver of a benchmark use the database's processors. */
  isMeasuredHere: boolean;
  /** Wakes a dispatcher. */
  announceWork: () => void;
}

const MAX_EVENTS_PER_BATCH = 500;

/** Stores the deliveries of new events, those that have come in the meantime with one transaction. */
export class SimulatedFanOut {
  readonly #options: FanOutOptions;
  readonly #waiting: Item[] = [];
  #busy = false;

  constructor(options: FanOutOptions) {
    this.#options = options;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#next();
  }

  #next(): void {
    if (this.#busy || this.#waiting.length === 0) return;
    this.#busy = true;
    const { clock, processors, database, costs, queue, isMeasuredHere, announceWork } = this.#options;
    const batch = this.#waiting.splice(0, MAX_EVENTS_PER_BATCH);
    const measuring = isMeasuredHere ? costs.measuring.perItem : 0;
    const ofService = costs.service.perTransaction + costs.service.perFanOut * batch.length;
    const ofDatabase = costs.database.perTransaction + (costs.database.perFanOut + measuring) * batch.length;
    processors.work(ofService / 1_000, () =>
      database.work(ofDatabase / 1_000, () =>
        clock.after(costs.databaseWaitMs, () => {
          for (const item of batch) item.dueMs = clock.nowMs;
          queue.add(batch);
          announceWork();
          this.#busy = false;
          this.#next();
        }),
      ),
    );
  }
}
