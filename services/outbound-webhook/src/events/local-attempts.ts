import { create, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { AttemptBatchSchema, type AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { Attempts } from "../worker/make-attempts.ts";
import { encodeResults, REPORT_DEADLINE_MS, RESULTS_PER_MESSAGE, sizeOfResult } from "../worker/result-batch.ts";
import type { AttemptMessage } from "./attempt-sender.ts";
import { RESERVATIONS, reservationId } from "./local-messages.ts";

interface LocalAttemptsOptions {
  bus: Bus;
  /** Shared with the worker of this process, which makes those that come from the broker. */
  attempts: Attempts;
  /** Stores results, and wakes the dispatcher. */
  applyResults: (results: AttemptResult[]) => Promise<void>;
  /** As many attempts as the process makes at the same time. */
  concurrency: number;
  onError: (error: unknown) => void;
  /** Called with how many attempts of a message were too late to be made. */
  onTooLate: (attempts: number) => void;
  /** Default: the clock of `performance.now`. */
  nowMs?: () => number;
}

/** Attempts that a dispatcher makes with the worker of its own process, without the broker. */
export interface LocalAttempts {
  /**
   * Whether to make the attempts of the next claim here. The broker keeps others until a worker is free. False while
   * the reservation of a message is overdue: other dispatchers may have attempts that are not reserved handed back.
   */
  hasRoom(): boolean;
  /** Resolves when the results are stored, or the broker has them. `claimedAtMs` is on the clock of `nowMs`. */
  make(messages: readonly AttemptMessage[], claimedAtMs: number, signal: AbortSignal): Promise<void>;
  /** Whether some attempts of the message are still under way here. */
  holds(messageId: string): boolean;
  /** Reserves messages that have been under way for long; to be called often. */
  reserve(): Promise<void>;
}

interface Held {
  claimedAtMs: number;
  reservations: number;
}

export const RESERVE_EVERY_MS = 500;
const RESERVE_WITHIN_MS = 2_000;
/** A reservation that is not made this long after it is due is overdue. */
const RESERVED_LATE_MS = 2 * RESERVE_EVERY_MS;
const MAX_RESULT_BYTES = 512 * 1024;
/** While one batch waits for the disk, the next one is applied. */
const BATCHES_AT_ONCE = 2;

export function createLocalAttempts(options: LocalAttemptsOptions): LocalAttempts {
  const { bus, applyResults, concurrency, onError, onTooLate, nowMs = () => performance.now() } = options;
  const held = new Map<string, Held>();
  let underWay = 0;

  const reports = createGroupCommit<AttemptResult>({
    maxItems: RESULTS_PER_MESSAGE,
    sizeOf: sizeOfResult,
    maxBytes: MAX_RESULT_BYTES,
    maxInFlight: BATCHES_AT_ONCE,
    async commit(results) {
      try {
        await applyResults(results);
      } catch (error) {
        // The broker keeps them until the database can store them.
        onError(error);
        await publishDurably(bus, "attempts.done", encodeResults(results), REPORT_DEADLINE_MS);
      }
    },
  });

  async function makeAll(
    { messageId, attempts }: AttemptMessage,
    claimedAtMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    held.set(messageId, { claimedAtMs, reservations: 0 });
    underWay += attempts.length;
    let tooLate = 0;
    const making = attempts.map(async (attempt) => {
      try {
        const result = await options.attempts.make(attempt, { redelivered: false, signal });
        if (result === "too late") tooLate += 1;
        if (typeof result === "object") await reports.add(result);
      } catch (error) {
        onError(error);
      } finally {
        underWay -= 1;
      }
    });
    await Promise.all(making);
    held.delete(messageId);
    if (tooLate > 0) onTooLate(tooLate);
  }

  function isOverdue({ claimedAtMs, reservations }: Held): boolean {
    const next = RESERVATIONS[reservations];
    return next !== undefined && nowMs() - claimedAtMs > next.reserveAfterMs + RESERVED_LATE_MS;
  }

  return {
    hasRoom: () => underWay < concurrency && options.attempts.hasRoom() && ![...held.values()].some(isOverdue),
    async make(messages, claimedAtMs, signal) {
      await Promise.all(messages.map((message) => makeAll(message, claimedAtMs, signal)));
    },
    holds: (messageId) => held.has(messageId),
    async reserve() {
      await Promise.all([...held].map(([messageId, one]) => reserveOne(messageId, one)));
    },
  };

  /** After an outage several reservations may be due, and dispatchers ask for all of them at once. */
  async function reserveOne(messageId: string, one: Held): Promise<void> {
    const ageMs = nowMs() - one.claimedAtMs;
    const due = RESERVATIONS.filter(({ reserveAfterMs }) => ageMs >= reserveAfterMs).length;
    if (due <= one.reservations) return;
    const empty = toBinary(AttemptBatchSchema, create(AttemptBatchSchema));
    const publishing: Promise<void>[] = [];
    for (let index = one.reservations; index < due; index += 1) {
      const id = reservationId(messageId, index);
      publishing.push(publishDurably(bus, "attempts.send", empty, RESERVE_WITHIN_MS, { messageId: id }));
    }
    await Promise.all(publishing);
    one.reservations = due;
  }
}
