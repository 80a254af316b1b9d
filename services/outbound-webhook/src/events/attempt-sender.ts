import { create, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { type Attempt, AttemptBatchSchema, AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { headersContext } from "../domain/custom-headers.ts";
import { requestHeaders, signingTime } from "../domain/delivery-headers.ts";
import { sealingContext } from "../domain/endpoint.ts";
import { ATTEMPT_DEADLINE_MS } from "../domain/outcome.ts";
import type { ClaimedDelivery } from "../store/deliveries/claim.ts";

/** One worker takes a whole message: moderate sizes spread the work, and stay below the broker's limit. */
const MAX_ATTEMPTS_PER_MESSAGE = 16;
const MAX_BODY_BYTES_PER_MESSAGE = 512 * 1024;
const DEADLINE_MS = 5_000;
/** Time to report the result: between the deadline of an attempt and the end of its lease. */
const REPORT_MARGIN_MS = 5_000;

/** The attempts that did not reach the broker, and the reason. */
interface SendFailure {
  attempts: Attempt[];
  error: unknown;
}

/**
 * Sends attempts to the workers. Resolves with those that did not reach the broker; the others must not be sent again.
 */
export type SendAttempts = (attempts: Attempt[]) => Promise<SendFailure[]>;

/** Everything that a worker needs for one attempt, with a signature for the current time. */
export function prepareAttempt(
  delivery: ClaimedDelivery,
  secretBox: Pick<SecretBox, "open">,
  now: Date,
  leaseUntil: Date,
): Attempt {
  const { deliveryId, endpointId, number, url, body, workspaceId, customHeaders } = delivery;
  const custom = customHeaders ? JSON.parse(secretBox.open(customHeaders, headersContext(endpointId))) : {};
  const secret = secretBox.open(delivery.secret, sealingContext(endpointId));
  return create(AttemptSchema, {
    deliveryId,
    endpointId: BigInt(endpointId),
    number,
    url,
    // Toolgate's own come last, so that none can be replaced.
    headers: { ...custom, ...requestHeaders({ ...delivery, secret, now }) },
    body,
    notAfterMs: BigInt(leaseUntil.getTime() - ATTEMPT_DEADLINE_MS - REPORT_MARGIN_MS),
    workspaceId,
    signedAtSeconds: BigInt(signingTime(now)),
    traceparent: delivery.traceparent ?? "",
    tracestate: delivery.tracestate ?? "",
  });
}

/** The end of an attempt's lease, computed from the message that its worker got. */
export function leaseOf(notAfterMs: bigint): Date {
  return new Date(Number(notAfterMs) + ATTEMPT_DEADLINE_MS + REPORT_MARGIN_MS);
}

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

/** Splits attempts into messages. */
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
