import { create } from "@bufbuild/protobuf";
import { type Attempt, AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { requestHeaders, signingTime } from "../domain/delivery-headers.ts";
import { sealingContext } from "../domain/endpoint.ts";
import { ATTEMPT_DEADLINE_MS } from "../domain/outcome.ts";
import type { ClaimedDelivery } from "../store/deliveries/claim.ts";

/** Between the latest end of an attempt and the end of the lease, for the way of the result. */
const REPORT_MARGIN_MS = 5_000;

/** The lease of an attempt, of which a worker knows only when it is too late. */
export function leaseOf(notAfterMs: bigint): Date {
  return new Date(Number(notAfterMs) + ATTEMPT_DEADLINE_MS + REPORT_MARGIN_MS);
}

/** All that a worker needs for one attempt, signed for now. */
export function prepareAttempt(
  delivery: ClaimedDelivery,
  secretBox: Pick<SecretBox, "open">,
  now: Date,
  leaseUntil: Date,
): Attempt {
  const { deliveryId, endpointId, number, body } = delivery;
  const secret = secretBox.open(delivery.secret, sealingContext(endpointId));
  return create(AttemptSchema, {
    deliveryId,
    endpointId: BigInt(endpointId),
    number,
    url: delivery.url,
    headers: requestHeaders({ ...delivery, secret, now }),
    body,
    notAfterMs: BigInt(leaseUntil.getTime() - ATTEMPT_DEADLINE_MS - REPORT_MARGIN_MS),
    workspaceId: delivery.workspaceId,
    signedAtSeconds: BigInt(signingTime(now)),
  });
}
