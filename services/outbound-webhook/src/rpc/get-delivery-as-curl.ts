import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { principalOf } from "@toolgate/service-host/principal";
import { DEFAULT_TOLERANCE_SECONDS } from "@toolgate/webhook-signing/verify";
import { curlCommand } from "../domain/curl-command.ts";
import { requestHeaders, signingTime } from "../domain/request-headers.ts";
import { sealingContext } from "../domain/sealing-context.ts";
import { findDelivery } from "../store/log/read.ts";
import { noSuchDelivery } from "./delivery-message.ts";

export function getDeliveryAsCurl(deps: {
  pool: Pool;
  secretBox: Pick<SecretBox, "open">;
  now: () => Date;
}): ServiceImpl<typeof DeliveryService>["getDeliveryAsCurl"] {
  const { pool, secretBox } = deps;
  return async (request, context) => {
    const found = await findDelivery(pool, principalOf(context).workspaceId, request.deliveryId, deps.now());
    if (!found) throw noSuchDelivery();
    const { delivery, endpoint, body, hop } = found;
    if (!endpoint) throw new ConnectError("the endpoint is deleted", Code.FailedPrecondition);
    if (body.length === 0) throw new ConnectError("the body is gone", Code.FailedPrecondition);
    const now = deps.now();
    const signedMs = signingTime(now) * 1000;
    const validUntilMs = signedMs + DEFAULT_TOLERANCE_SECONDS * 1000;
    const headers = requestHeaders({
      deliveryId: delivery.id,
      eventType: delivery.eventType,
      number: Math.max(1, delivery.attempts),
      hop,
      secret: secretBox.open(endpoint.secret, sealingContext(delivery.endpointId)),
      body,
      now,
    });
    const times = { signedAt: new Date(signedMs), validUntil: new Date(validUntilMs) };
    return {
      command: curlCommand({ url: endpoint.url, headers, body, ...times }),
      signedAt: timestampFromMs(signedMs),
      validUntil: timestampFromMs(validUntilMs),
    };
  };
}
