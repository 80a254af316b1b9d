import { ATTEMPT_DEADLINE_MS, outcomeOf } from "@toolgate/outbound-webhook/domain/outcome";
import { REPORT_MARGIN_MS } from "@toolgate/outbound-webhook/events/attempt-sender";
import { BETWEEN_CLAIMS_MS, LEASE_MS, POLL_MS } from "@toolgate/outbound-webhook/events/dispatcher";
import { MESSAGES_PER_BATCH } from "@toolgate/outbound-webhook/events/result-consumer";
import { MAX_GROUPS_PER_CLAIM } from "@toolgate/outbound-webhook/store/deliveries/claim";
import { ATTEMPTS_PER_MESSAGE } from "@toolgate/outbound-webhook/store/queue";
import type { Stream } from "./broker.ts";
import type { Clock, Processors } from "./clock.ts";
import type { Leases } from "./leases.ts";
import type { Send, Sent } from "./messages.ts";
import type { QueueModel, Settlement } from "./queue-model.ts";
import type { Costs } from "./settings.ts";

interface DispatcherOptions {
  clock: Clock;
  processors: Processors;
  database: Processors;
  costs: Costs;
  queue: QueueModel;
  leases: Leases;
  attempts: Stream<Send>;
  results: Stream<Sent>;
  /** Called for each delivery that has ended. */
  onEnded: (sent: Sent) => void;
}

/** The loops of a dispatcher's process: one claims and sends, the other one applies results. */
export class SimulatedDispatcher {
  readonly #options: DispatcherOptions;
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  #signalled = false;
  /** Counts the waits, so that only the poll of the current one ends it. */
  #waits = 0;
  #waiting = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  start(): void {
    this.#nextClaim();
    this.#applyResults();
  }

  wake(): void {
    this.#signalled = true;
    if (this.#waiting) this.#endWait();
  }

  #endWait(): void {
    this.#waiting = false;
    this.#nextClaim();
  }

  #nextClaim(): void {
    const { clock } = this.#options;
    this.#signalled = false;
    clock.after(this.#claimedAtMs + BETWEEN_CLAIMS_MS - clock.nowMs, () => this.#claim());
  }

  #claim(): void {
    const { clock, queue, leases, costs, database, processors } = this.#options;
    const { nowMs } = clock;
    this.#claimedAtMs = nowMs;
    const { items, groups } = queue.claim(nowMs, MAX_GROUPS_PER_CLAIM);
    leases.take(items, nowMs + LEASE_MS);
    const notAfterMs = nowMs + LEASE_MS - ATTEMPT_DEADLINE_MS - REPORT_MARGIN_MS;
    const { perTransaction, perClaimed } = costs.database;
    database.work((perTransaction + perClaimed * items.length) / 1_000, () =>
      clock.after(costs.databaseWaitMs, () =>
        processors.work((costs.service.perTransaction + costs.service.perClaimed * items.length) / 1_000, () => {
          const sends = items.map((item) => ({ item, notAfterMs }));
          for (let start = 0; start < sends.length; start += ATTEMPTS_PER_MESSAGE)
            this.#options.attempts.publish(sends.slice(start, start + ATTEMPTS_PER_MESSAGE));
          const isFull = groups === MAX_GROUPS_PER_CLAIM || (groups > 0 && items.length === 0);
          this.#afterClaim(isFull);
        }),
      ),
    );
  }

  #afterClaim(isFull: boolean): void {
    if (isFull || this.#signalled) {
      this.#nextClaim();
      return;
    }
    this.#waiting = true;
    this.#waits += 1;
    const wait = this.#waits;
    this.#options.clock.after(POLL_MS, () => {
      if (this.#waiting && this.#waits === wait) this.#endWait();
    });
  }

  #applyResults(): void {
    const { clock, processors, database, costs, results } = this.#options;
    const batch: Sent[] = [];
    for (let messages = 0; messages < MESSAGES_PER_BATCH; messages += 1) {
      const message = results.take();
      if (!message) break;
      batch.push(...message);
    }
    if (batch.length === 0) {
      results.whenStored(() => this.#applyResults());
      return;
    }
    const { perTransaction, perResult } = costs.database;
    processors.work((costs.service.perTransaction + costs.service.perResult * batch.length) / 1_000, () =>
      database.work((perTransaction + perResult * batch.length) / 1_000, () =>
        clock.after(costs.databaseWaitMs, () => {
          if (this.#settle(batch)) this.wake();
          this.#applyResults();
        }),
      ),
    );
  }

  #settle(batch: readonly Sent[]): boolean {
    const { queue, leases, clock, onEnded } = this.#options;
    const current = batch.filter(({ item }) => leases.end(item));
    const settlements = current.map((sent): Settlement => {
      const { item, status, endedMs } = sent;
      const outcome = outcomeOf({
        number: item.attempt,
        responseCode: status,
        error: "timeout",
        endedAt: new Date(endedMs),
      });
      item.attempt += 1;
      if (!outcome.retryAt) onEnded(sent);
      return { item, nextDueMs: outcome.retryAt?.getTime(), failing: outcome.verdict === "failed" };
    });
    return queue.settle(settlements, clock.nowMs);
  }
}
