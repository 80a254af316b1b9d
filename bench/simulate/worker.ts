import { RESULTS_PER_MESSAGE } from "@toolgate/outbound-webhook/worker/result-batch";
import { messagesAhead } from "@toolgate/outbound-webhook/worker/worker";
import type { Stream } from "./broker.ts";
import type { Clock, Processors } from "./clock.ts";
import type { Send, Sent } from "./messages.ts";
import type { Costs } from "./settings.ts";

interface WorkerOptions {
  clock: Clock;
  processors: Processors;
  costs: Costs;
  concurrency: number;
  attempts: Stream<Send>;
  results: Stream<Sent>;
  /** How long the receiver takes, and its status; 0: none. */
  respond: (send: Send) => { afterMs: number; status: number };
  /** Called when an attempt begins. */
  onBegin: (send: Send) => void;
  onTooLate: (send: Send) => void;
}

/** Reports that are on their way to the broker at the same time, as in the event bus. */
const REPORTS_IN_FLIGHT = 2;

/** Takes attempts from the broker, makes them, and reports their results in batches. */
export class SimulatedWorker {
  inFlight = 0;
  /** Mean of `inFlight` times the passed time. */
  slotMs = 0;
  #changedAtMs = 0;
  readonly #options: WorkerOptions;
  readonly #fetched: Send[][] = [];
  readonly #reports: Sent[] = [];
  #reportsInFlight = 0;
  #asked = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  get processors(): Processors {
    return this.#options.processors;
  }

  start(): void {
    this.#fetch();
  }

  /** Asks for messages ahead of those whose attempts have begun. */
  #fetch(): void {
    const { attempts, concurrency } = this.#options;
    while (this.#fetched.length < messagesAhead(concurrency)) {
      const message = attempts.take();
      if (!message) break;
      this.#fetched.push(message);
    }
    if (this.#fetched.length < messagesAhead(concurrency) && !this.#asked) {
      this.#asked = true;
      attempts.whenStored(() => {
        this.#asked = false;
        this.#fetch();
      });
    }
    this.#begin();
  }

  #begin(): void {
    const { concurrency } = this.#options;
    let emptied = false;
    while (this.inFlight < concurrency) {
      const [message] = this.#fetched;
      const send = message?.shift();
      if (!send) {
        if (!message) break;
        this.#fetched.shift();
        emptied = true;
        continue;
      }
      this.#attempt(send);
    }
    if (emptied) this.#fetch();
  }

  #attempt(send: Send): void {
    const { clock, processors, costs, respond, onBegin, onTooLate } = this.#options;
    if (clock.nowMs > send.notAfterMs) {
      onTooLate(send);
      return;
    }
    this.#occupy(1);
    processors.work(costs.service.perAttempt / 1_000, () => {
      onBegin(send);
      const { afterMs, status } = respond(send);
      clock.after(afterMs, () => {
        this.#occupy(-1);
        this.#report({ item: send.item, status, endedMs: clock.nowMs });
        this.#begin();
      });
    });
  }

  #occupy(change: number): void {
    const { nowMs } = this.#options.clock;
    this.slotMs += this.inFlight * (nowMs - this.#changedAtMs);
    this.#changedAtMs = nowMs;
    this.inFlight += change;
  }

  #report(result?: Sent): void {
    if (result) this.#reports.push(result);
    if (this.#reportsInFlight >= REPORTS_IN_FLIGHT || this.#reports.length === 0) return;
    this.#reportsInFlight += 1;
    this.#options.results.publish(this.#reports.splice(0, RESULTS_PER_MESSAGE), () => {
      this.#reportsInFlight -= 1;
      this.#report();
    });
  }
}
