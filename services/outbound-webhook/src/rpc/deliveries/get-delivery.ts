import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { sentHeaders } from "../../domain/delivery-headers.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { createdInEnvelope } from "../../domain/envelope.ts";
import { type FoundDelivery, findDelivery, listAttempts } from "../../store/log/read.ts";
import { noSuchDelivery, toAttempt, toDelivery } from "./delivery-message.ts";

export const getDelivery: Handler<Context, typeof DeliveryService.method.getDelivery> = async (
  { pool, queue, secretBox, now },
  request,
  call,
) => {
  const found = await findDelivery(pool, principalOf(call).workspaceId, request.deliveryId);
  if (!found) throw noSuchDelivery();
  const { delivery, body, hop } = found;
  const { id: deliveryId, eventType } = delivery;
  const attempts = await listAttempts(pool, deliveryId);
  const secret = secretOf(found, secretBox);
  return {
    delivery: toDelivery(delivery, queue.caps, now()),
    attemptLog: attempts.map((attempt) =>
      toAttempt(attempt, sentHeaders({ ...attempt, deliveryId, eventType, hop, body, secret })),
    ),
    payload: body.toString("utf8"),
    body,
    ...delays(found, attempts[0]?.startedAt),
  };
};

function secretOf({ endpoint, delivery }: FoundDelivery, secretBox: SecretBox) {
  if (!endpoint) return undefined;
  try {
    const text = secretBox.open(endpoint.secret, sealingContext(delivery.endpointId));
    return { text, replacedAt: endpoint.secretReplacedAt };
  } catch {
    // The log must stay readable when a sealing key is missing.
    return undefined;
  }
}

function delays({ delivery, body }: FoundDelivery, firstAttemptAt: Date | undefined) {
  const { kind, createdAt, finishedAt } = delivery;
  const since = kind === "event" ? (createdInEnvelope(body) ?? createdAt) : createdAt;
  const after = (time: Date) => durationFromMs(Math.max(0, time.getTime() - since.getTime()));
  return {
    ...(firstAttemptAt && { firstAttemptAfter: after(firstAttemptAt) }),
    ...(finishedAt && { endedAfter: after(finishedAt) }),
  };
}
