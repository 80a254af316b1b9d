import { Code, ConnectError } from "@connectrpc/connect";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import { DEFAULT_TOLERANCE_SECONDS } from "@toolgate/webhook-signing/verify";
import type { Context } from "../../context.ts";
import { curlCommand } from "../../domain/curl-command.ts";
import { requestHeaders, signingTime } from "../../domain/delivery-headers.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { findDelivery } from "../../store/log/read.ts";
import { noSuchDelivery } from "./delivery-message.ts";

export const getDeliveryAsCurl: Handler<Context, typeof DeliveryService.method.getDeliveryAsCurl> = async (
  context,
  request,
  call,
) => {
  const found = await findDelivery(context.pool, principalOf(call).workspaceId, request.deliveryId);
  if (!found) throw noSuchDelivery();
  const { delivery, endpoint, body, hop } = found;
  if (!endpoint) throw new ConnectError("the endpoint is deleted", Code.FailedPrecondition);
  if (body.length === 0) throw new ConnectError("the body is no longer kept", Code.FailedPrecondition);
  const now = context.now();
  const headers = requestHeaders({
    deliveryId: delivery.id,
    eventType: delivery.eventType,
    number: Math.max(1, delivery.attempts),
    hop,
    secret: context.secretBox.open(endpoint.secret, sealingContext(delivery.endpointId)),
    body,
    now,
  });
  const signedAt = new Date(signingTime(now) * 1000);
  const validUntil = new Date(signedAt.getTime() + DEFAULT_TOLERANCE_SECONDS * 1000);
  return {
    command: curlCommand({ url: endpoint.url, headers, body, signedAt, validUntil }),
    signedAt: timestampOf(signedAt),
    validUntil: timestampOf(validUntil),
  };
};
