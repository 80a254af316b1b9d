import { create, toBinary } from "@bufbuild/protobuf";
import { MAX_MESSAGE_BYTES, publishDurably } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { type Attempt, AttemptBatchSchema, AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { signingKey } from "@toolgate/webhook-signing/secret";
import { headersContext } from "../domain/custom-headers.ts";
import { requestHeaders, signingTime } from "../domain/delivery-headers.ts";
import { sealingContext } from "../domain/endpoint.ts";
import { ATTEMPT_DEADLINE_MS, BODY_DEADLINE_MS } from "../domain/outcome.ts";
import type { CancelRecord, RecordKey, ReturnRecord } from "../store/deliveries/apply-results.ts";
import type { ClaimedDelivery } from "../store/deliveries/claim.ts";

/** An attempt that has not begun this long after its claim is not made any more. */
const BEGIN_WITHIN_MS = 3_000;
/** A delivery without a result after this time is tried again, under the same number. [OUT-57] */
export const LEASE_MS = BEGIN_WITHIN_MS + ATTEMPT_DEADLINE_MS + BODY_DEADLINE_MS;
/** One worker takes a whole message: moderate sizes spread the work. */
const ATTEMPTS_PER_MESSAGE = 16;
const DEADLINE_MS = 5_000;
/** Wait after a failure of the installation, such as a missing sealing key. */
const UNSIGNABLE_WAIT_MS = 60_000;

interface AttemptSenderOptions {
  bus: Bus;
  applyUnsent: (unsent: readonly Unsent[], now: Date, lockTimeoutMs: number) => Promise<unknown>;
  secretBox: Pick<SecretBox, "open">;
  onError: (error: unknown) => void;
}

/** Sends what was claimed at this time to the workers. What cannot be sent is cancelled or returned to the queue. */
export type SendAttempts = (deliveries: readonly ClaimedDelivery[], now: Date) => Promise<void>;

type Unsent = CancelRecord | ReturnRecord;

const workspaceOf = (unsent: Unsent) => unsent.workspaceId;

export function createAttemptSender({ bus, applyUnsent, secretBox, onError }: AttemptSenderOptions): SendAttempts {
  return async (deliveries, now) => {
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    // Those of locked workspaces wait until their leases end.
    const settle = (unsent: Unsent[]) =>
      inUnlockedGroups(unsent, workspaceOf, (some, timeoutMs) => applyUnsent(some, now, timeoutMs)).catch(onError);
    const returned = (key: RecordKey) => ({ ...keyOf(key), verdict: "returned", leaseUntil }) as const;
    async function sendMessage(attempts: Attempt[]): Promise<void> {
      try {
        const data = toBinary(AttemptBatchSchema, create(AttemptBatchSchema, { attempts }));
        await publishDurably(bus, "attempts.send", data, DEADLINE_MS);
      } catch (error) {
        onError(error);
        await settle(attempts.map(returned));
      }
    }
    const unsent: Unsent[] = [];
    const series: Attempt[][] = [];
    for (const together of Map.groupBy(deliveries, ({ endpointId, slot }) => `${endpointId} ${slot}`).values()) {
      const attempts: Attempt[] = [];
      for (const [index, delivery] of together.entries()) {
        const { wanted, body } = delivery;
        // The first one holds the slot, so the others are sent only with it.
        const hasSlot = index === 0 || attempts.length > 0;
        if (!wanted) unsent.push({ ...keyOf(delivery), verdict: "cancelled", endedAt: now });
        else if (!hasSlot || body === null) unsent.push(returned(delivery));
        else
          try {
            attempts.push(prepareAttempt({ ...delivery, body }, secretBox, now, leaseUntil));
          } catch (error) {
            // The installation failed, not the endpoint, so this does not count as an attempt, but the slot is freed.
            onError(error);
            unsent.push({ ...returned(delivery), retryAt: new Date(now.getTime() + UNSIGNABLE_WAIT_MS) });
          }
      }
      if (attempts.length > 0) series.push(attempts);
    }
    await Promise.all([settle(unsent), ...inMessages(series).map(sendMessage)]);
  };
}

function keyOf({ deliveryId, workspaceId, number }: RecordKey): RecordKey {
  return { deliveryId, workspaceId, number };
}

/** Short series share a message, but never two of the same endpoint, as those are made at the same time. */
function inMessages(series: readonly Attempt[][]): Attempt[][] {
  const messages: Attempt[][] = [];
  const bytesOf = (attempts: readonly Attempt[]) => attempts.reduce((sum, { body }) => sum + body.length, 0);
  for (const attempts of series) {
    const last = messages.at(-1);
    const fits =
      last &&
      last.length + attempts.length <= ATTEMPTS_PER_MESSAGE &&
      bytesOf(last) + bytesOf(attempts) <= MAX_MESSAGE_BYTES &&
      last.every(({ endpointId }) => endpointId !== attempts[0]?.endpointId);
    if (fits) last.push(...attempts);
    else messages.push([...attempts]);
  }
  return messages;
}

/** Everything that a worker needs for one attempt, with a signature for the current time. */
function prepareAttempt(
  delivery: ClaimedDelivery & { body: Buffer },
  secretBox: Pick<SecretBox, "open">,
  now: Date,
  leaseUntil: Date,
): Attempt {
  const { deliveryId, endpointId, number, url, body, workspaceId, customHeaders } = delivery;
  const custom = customHeaders ? JSON.parse(secretBox.open(customHeaders, headersContext(endpointId))) : {};
  const secret = signingKey(secretBox.open(delivery.secret, sealingContext(endpointId)));
  return create(AttemptSchema, {
    deliveryId,
    endpointId: BigInt(endpointId),
    number,
    url,
    // Toolgate's own come last, so that none can be replaced.
    headers: { ...custom, ...requestHeaders({ ...delivery, secret, now }) },
    body,
    // So that it has ended before its lease does.
    notAfterMs: BigInt(leaseUntil.getTime() - ATTEMPT_DEADLINE_MS - BODY_DEADLINE_MS),
    workspaceId,
    signedAtSeconds: BigInt(signingTime(now)),
    traceparent: delivery.traceparent ?? "",
    tracestate: delivery.tracestate ?? "",
  });
}

/** The end of an attempt's lease, computed from the message that its worker got. */
export function leaseOf(notAfterMs: bigint): Date {
  return new Date(Number(notAfterMs) + ATTEMPT_DEADLINE_MS + BODY_DEADLINE_MS);
}
