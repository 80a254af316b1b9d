import {
  type DeliveryService,
  SignatureMistake,
  SignatureScheme,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { requestTime } from "@toolgate/service-host/time";
import { type Diagnosis, diagnose, MAX_DIAGNOSED_BYTES } from "@toolgate/webhook-signing/diagnose";
import { MAX_HEADER_TEXT_CHARS, readSignatureHeaders } from "@toolgate/webhook-signing/read-headers";
import type { Context } from "../../context.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { type EndpointKey, findSecret } from "../../store/endpoint.ts";
import { findDelivery, listAttempts } from "../../store/log/read.ts";
import { endpointKey, invalidArgument, noSuchEndpoint } from "../request-fields.ts";

const MISTAKE: Record<Diagnosis["mistakes"][number], SignatureMistake> = {
  "body-reserialised": SignatureMistake.BODY_RESERIALISED,
  "trailing-newline": SignatureMistake.TRAILING_NEWLINE,
  "line-endings": SignatureMistake.LINE_ENDINGS,
  encoding: SignatureMistake.ENCODING,
  "surrounding-space": SignatureMistake.SURROUNDING_SPACE,
  "other-body": SignatureMistake.OTHER_BODY,
  "key-without-prefix": SignatureMistake.KEY_WITHOUT_PREFIX,
  "key-decoded": SignatureMistake.KEY_DECODED,
  "key-not-decoded": SignatureMistake.KEY_NOT_DECODED,
  "time-not-signed": SignatureMistake.TIME_NOT_SIGNED,
  separator: SignatureMistake.SEPARATOR,
  "other-scheme": SignatureMistake.OTHER_SCHEME,
  "time-of-other-attempt": SignatureMistake.TIME_OF_OTHER_ATTEMPT,
  "digest-form": SignatureMistake.DIGEST_FORM,
};

const SCHEME: Record<NonNullable<Diagnosis["scheme"]>, SignatureScheme> = {
  service: SignatureScheme.SERVICE,
  standard: SignatureScheme.STANDARD_WEBHOOKS,
};

export const debugSignature: Handler<Context, typeof DeliveryService.method.debugSignature> = async (
  { pool, secretBox, now },
  request,
  call,
) => {
  const key = endpointKey(principalOf(call), request.endpointId);
  if (request.body.length > MAX_DIAGNOSED_BYTES) throw invalidArgument("body: at most 256 KB");
  if (request.headers.length > MAX_HEADER_TEXT_CHARS) {
    throw invalidArgument(`headers: at most ${MAX_HEADER_TEXT_CHARS} characters`);
  }
  const receivedAt = requestTime("received_at", request.receivedAt) ?? now();
  const found = await findSecret(pool, key);
  if (!found) throw noSuchEndpoint();
  const deliveryId = request.deliveryId || readSignatureHeaders(request.headers).deliveryId;
  const { scheme, headerFault, signedAt, timeWithinTolerance, secondsOff, matches, mistakes, bodyDiffersAt } = diagnose(
    {
      ...(await whatWasSent(pool, key, deliveryId)),
      secret: secretBox.open(found.secret, sealingContext(key.endpointId)),
      headers: request.headers,
      body: request.body,
      receivedAt: receivedAt.getTime() / 1000,
    },
  );
  return {
    ...(scheme && { scheme: SCHEME[scheme] }),
    headerFault,
    timeWithinTolerance,
    secondsOff: BigInt(secondsOff),
    signatureMatches: matches,
    mistakes: mistakes.map((mistake) => MISTAKE[mistake]),
    secretReplacedSince: signedAt !== undefined && (found.replacedAt?.getTime() ?? 0) > signedAt * 1000,
    ...(bodyDiffersAt !== undefined && { bodyDiffersAt }),
  };
};

/** The body and the times of the attempts of a delivery, if it went to this endpoint. */
async function whatWasSent(pool: Pool, { workspaceId, endpointId }: EndpointKey, deliveryId: string) {
  const found = await findDelivery(pool, workspaceId, deliveryId);
  if (found?.delivery.endpointId !== endpointId) return {};
  const attempts = await listAttempts(pool, deliveryId);
  const attemptTimes = attempts.map(({ signedAt }) => signedAt.getTime() / 1000);
  return { attemptTimes, ...(found.body.length > 0 && { sentBody: found.body }) };
}
