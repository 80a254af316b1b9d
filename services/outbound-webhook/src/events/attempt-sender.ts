import { create, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { type Attempt, AttemptBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";

/** A message goes to one worker as a whole: moderate sizes spread the work, and stay below the broker's limit. */
const MAX_ATTEMPTS_PER_MESSAGE = 16;
const MAX_BODY_BYTES_PER_MESSAGE = 512 * 1024;
const DEADLINE_MS = 5_000;

/** Attempts that did not get to the broker, and why. */
export interface SendFailure {
  attempts: Attempt[];
  error: unknown;
}

/** Hands attempts to the workers. Resolves with those that did not get there: the others must not be sent again. */
export type SendAttempts = (attempts: Attempt[]) => Promise<SendFailure[]>;

/** Sends in messages of moderate size, each of which gets there or not by itself. */
export function createAttemptSender(bus: Bus): SendAttempts {
  return async (attempts) => {
    const outcomes = await Promise.all(splitAttempts(attempts).map((part) => sendPart(bus, part)));
    return outcomes.filter((outcome) => outcome !== undefined);
  };
}

async function sendPart(bus: Bus, attempts: Attempt[]): Promise<SendFailure | undefined> {
  try {
    const message = toBinary(AttemptBatchSchema, create(AttemptBatchSchema, { attempts }));
    await publishDurably(bus, "attempts.send", message, DEADLINE_MS);
    return undefined;
  } catch (error) {
    return { attempts, error };
  }
}

export function splitAttempts(attempts: readonly Attempt[]): Attempt[][] {
  const parts: Attempt[][] = [];
  let bytes = 0;
  for (const attempt of attempts) {
    const last = parts.at(-1);
    bytes += attempt.body.length;
    if (last && last.length < MAX_ATTEMPTS_PER_MESSAGE && bytes <= MAX_BODY_BYTES_PER_MESSAGE) last.push(attempt);
    else {
      parts.push([attempt]);
      bytes = attempt.body.length;
    }
  }
  return parts;
}
