import { create, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { AttemptBatchSchema, type AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { MakeAttempt } from "../worker/make-attempts.ts";
import { encodeResults, REPORT_DEADLINE_MS, RESULTS_PER_MESSAGE, sizeOfResult } from "../worker/result-batch.ts";
import type { AttemptMessage } from "./attempt-sender.ts";
import { RESERVATIONS, reservationId } from "./local-messages.ts";

interface LocalAttemptsOptions {
  bus: Bus;
  makeAttempt: MakeAttempt;
  /** Stores results, and wakes the dispatcher. */
  applyResults: (results: AttemptResult[]) => Promise<void>;
  /** As many attempts as the process makes at the same time. */
  concurrency: number;
  onError: (error: unknown) => void;
}

/** Attempts that a dispatcher makes with the worker of its own process, without the broker. */
export interface LocalAttempts {
  /** Whether to make the attempts of the next claim here. The broker keeps others until a worker is free. */
  hasRoom(): boolean;
  /** Resolves when the results are stored, or the broker has them. `claimedAtMs` is on the clock of `performance.now`. */
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
const MAX_RESULT_BYTES = 512 * 1024;
/** While one batch waits for the disk, the next one is applied. */
const BATCHES_AT_ONCE = 2;

export function createLocalAttempts(options: LocalAttemptsOptions): LocalAttempts {
  const { bus, makeAttempt, applyResults, concurrency, onError } = options;
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
    const making = attempts.map(async (attempt) => {
      try {
        const result = await makeAttempt(attempt, { redelivered: false, signal });
        if (typeof result === "object") await reports.add(result);
      } catch (error) {
        onError(error);
      } finally {
        underWay -= 1;
      }
    });
    await Promise.all(making);
    held.delete(messageId);
  }

  return {
    hasRoom: () => underWay < concurrency,
    async make(messages, claimedAtMs, signal) {
      await Promise.all(messages.map((message) => makeAll(message, claimedAtMs, signal)));
    },
    holds: (messageId) => held.has(messageId),
    async reserve() {
      const nowMs = performance.now();
      const reserving: Promise<void>[] = [];
      for (const [messageId, one] of held) {
        const next = RESERVATIONS[one.reservations];
        if (next && nowMs - one.claimedAtMs >= next.reserveAfterMs) reserving.push(reserveOne(messageId, one));
      }
      await Promise.all(reserving);
    },
  };

  async function reserveOne(messageId: string, one: Held): Promise<void> {
    const empty = toBinary(AttemptBatchSchema, create(AttemptBatchSchema));
    const id = reservationId(messageId, one.reservations);
    await publishDurably(bus, "attempts.send", empty, RESERVE_WITHIN_MS, { messageId: id });
    one.reservations += 1;
  }
}
