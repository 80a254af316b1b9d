import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import { DEFAULT_TOLERANCE_SECONDS } from "@toolgate/webhook-signing/verify";
import type { Context } from "../../context.ts";
import { curlCommand } from "../../domain/curl-command.ts";
import { requestHeaders, sentHeaders, signingTime } from "../../domain/delivery-headers.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { createdInEnvelope } from "../../domain/envelope.ts";
import { fullCapOf } from "../../domain/full-cap.ts";
import { MAX_SENT_AGAIN } from "../../store/deliveries/add.ts";
import { addResend } from "../../store/deliveries/single-delivery.ts";
import { readHealth } from "../../store/log/health.ts";
import { type FoundDelivery, findDelivery, listAttempts } from "../../store/log/read.ts";
import { backlogOf } from "../endpoints/endpoint-message.ts";
import { endpointKey, noSuchEndpoint } from "../request-fields.ts";
import { CAP, toAttempt, toDelivery } from "./delivery-message.ts";

/** Waiting deliveries are counted up to this number. */
const MAX_COUNTED = 10_000;

export const deliveryHandlers = {
  async getDelivery({ pool, queue, secretBox, now }, request, call) {
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
  },

  async getDeliveryAsCurl(context, request, call) {
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
  },

  async resendDelivery({ queuePool, queue, announceWork, now }, request, call) {
    const { workspaceId } = principalOf(call);
    const result = await addResend(queuePool, queue, { workspaceId, deliveryId: request.deliveryId }, now());
    if (result === "no-such-delivery") throw noSuchDelivery();
    if (result === "endpoint-inactive") {
      throw new ConnectError("the endpoint is inactive or deleted", Code.FailedPrecondition);
    }
    if (result === "sent-too-often") {
      const limit = `an event can be sent to an endpoint again at most ${MAX_SENT_AGAIN} times`;
      throw new ConnectError(limit, Code.ResourceExhausted);
    }
    announceWork();
    return { deliveryId: result.deliveryId };
  },

  async getEndpointBacklog({ pool, queue, now }, request, call) {
    const { workspaceId, endpointId } = endpointKey(principalOf(call), request.endpointId);
    const row = (await readHealth(pool, workspaceId, [endpointId], MAX_COUNTED)).get(endpointId);
    if (!row) throw noSuchEndpoint();
    const backlog = backlogOf(row, MAX_COUNTED, now());
    const { slots } = row;
    return {
      ...backlog,
      failing: slots.failing,
      ...("oldestDueAt" in backlog && { fullCap: CAP[fullCapOf(slots, queue.caps)] }),
    };
  },
} satisfies Handlers<Context, typeof DeliveryService>;

function noSuchDelivery(): ConnectError {
  return new ConnectError("no such delivery", Code.NotFound);
}

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
