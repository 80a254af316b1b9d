import { create, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { type Attempt, AttemptBatchSchema, AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { headersContext } from "../domain/custom-headers.ts";
import { requestHeaders, signingTime } from "../domain/delivery-headers.ts";
import { ATTEMPT_DEADLINE_MS } from "../domain/outcome.ts";
import type { ClaimedDelivery } from "../store/deliveries/claim.ts";
import type { OpenSigningKey } from "./signing-keys.ts";

/** An attempt with a larger body is sent in a message of its own, so that messages stay below the broker's limit. */
const MAX_SHARED_BODY_BYTES = 32 * 1024;
const DEADLINE_MS = 5_000;
/** Time to report the result: between the deadline of an attempt and the end of its lease. */
export const REPORT_MARGIN_MS = 5_000;

/** Attempts that are sent together. A message of the same id is sent only once. */
export interface AttemptMessage {
  messageId: string;
  attempts: Attempt[];
}

/** The attempts that did not reach the broker, and the reason. */
export interface SendFailure {
  attempts: Attempt[];
  error: unknown;
}

/**
 * Sends attempts to the workers. Resolves with those that did not reach the broker; the others must not be sent again.
 */
export type SendAttempts = (messages: AttemptMessage[]) => Promise<SendFailure[]>;

/** Everything that a worker needs for one attempt, with a signature for the current time. */
export function prepareAttempt(
  delivery: ClaimedDelivery,
  { secretBox, keyOf }: { secretBox: Pick<SecretBox, "open">; keyOf: OpenSigningKey },
  now: Date,
  leaseUntil: Date,
): Attempt {
  const { deliveryId, endpointId, number, url, body, workspaceId, customHeaders } = delivery;
  const custom = customHeaders ? JSON.parse(secretBox.open(customHeaders, headersContext(endpointId))) : {};
  const secret = keyOf(delivery);
  return create(AttemptSchema, {
    deliveryId,
    endpointId: BigInt(endpointId),
    number,
    url,
    // Toolgate's own come last, so that none can be replaced.
    headers: { ...custom, ...requestHeaders({ ...delivery, secret, now }) },
    body,
    notAfterMs: notAfterOf(leaseUntil),
    workspaceId,
    signedAtSeconds: BigInt(signingTime(now)),
    traceparent: delivery.traceparent ?? "",
    tracestate: delivery.tracestate ?? "",
  });
}

/** Until when an attempt may be started, so that its result comes before its lease ends. */
export function notAfterOf(leaseUntil: Date): bigint {
  return BigInt(leaseUntil.getTime() - ATTEMPT_DEADLINE_MS - REPORT_MARGIN_MS);
}

/** The end of an attempt's lease, computed from the message that its worker got. */
export function leaseOf(notAfterMs: bigint): Date {
  return new Date(Number(notAfterMs) + ATTEMPT_DEADLINE_MS + REPORT_MARGIN_MS);
}

export function createAttemptSender(bus: Bus): SendAttempts {
  return async (messages) => {
    const outcomes = await Promise.all(messages.map((message) => sendMessage(bus, message)));
    return outcomes.filter((outcome) => outcome !== undefined);
  };
}

async function sendMessage(bus: Bus, { messageId, attempts }: AttemptMessage): Promise<SendFailure | undefined> {
  try {
    const message = toBinary(AttemptBatchSchema, create(AttemptBatchSchema, { attempts }));
    await publishDurably(bus, "attempts.send", message, DEADLINE_MS, { messageId });
    return undefined;
  } catch (error) {
    return { attempts, error };
  }
}

/** The id of the message in which a claimed delivery is sent; `messageId` is what its claim noted. */
export function messageIdOf(
  { messageId, deliveryId }: Pick<ClaimedDelivery, "messageId" | "deliveryId">,
  bodyBytes: number,
): string {
  return bodyBytes > MAX_SHARED_BODY_BYTES ? `${messageId}.${deliveryId}` : messageId;
}
