import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { principalOf } from "@toolgate/service-host/principal";
import { createdInEnvelope } from "../domain/envelope.ts";
import { sealingContext } from "../domain/sealing-context.ts";
import { sentHeaders } from "../domain/sent-headers.ts";
import { type FoundDelivery, findDelivery, listAttempts } from "../store/log/read.ts";
import { noSuchDelivery, toAttempt, toDelivery } from "./delivery-message.ts";

export function getDelivery(deps: {
  pool: Pool;
  secretBox: Pick<SecretBox, "open">;
  caps: QueueCaps;
  now: () => Date;
}): ServiceImpl<typeof DeliveryService>["getDelivery"] {
  const { pool, secretBox, caps, now } = deps;
  return async (request, context) => {
    const found = await findDelivery(pool, principalOf(context).workspaceId, request.deliveryId, now());
    if (!found) throw noSuchDelivery();
    const { delivery, body, hop } = found;
    const { id: deliveryId, eventType } = delivery;
    const attempts = await listAttempts(pool, deliveryId);
    const secret = secretOf(found, secretBox);
    return {
      delivery: toDelivery(delivery, caps, now()),
      attemptLog: attempts.map((attempt) =>
        toAttempt(attempt, sentHeaders({ ...attempt, deliveryId, eventType, hop, body, secret })),
      ),
      payload: body.toString("utf8"),
      body,
      ...delays(found, attempts[0]?.startedAt),
    };
  };
}

function secretOf({ endpoint, delivery }: FoundDelivery, secretBox: Pick<SecretBox, "open">) {
  if (!endpoint) return undefined;
  try {
    const text = secretBox.open(endpoint.secret, sealingContext(delivery.endpointId));
    return { text, replacedAt: endpoint.secretReplacedAt };
  } catch {
    // A sealing key is missing: that is when somebody looks at the log.
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
