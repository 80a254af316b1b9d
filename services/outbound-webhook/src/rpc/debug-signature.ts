import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  type DebugSignatureRequest,
  type DeliveryService,
  SignatureMistake,
  SignatureScheme,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { principalOf } from "@toolgate/service-host/principal";
import { type Diagnosis, diagnose, MAX_DIAGNOSED_BYTES } from "@toolgate/webhook-signing/diagnose";
import { MAX_HEADER_TEXT_CHARS, readSignatureHeaders } from "@toolgate/webhook-signing/read-headers";
import { sealingContext } from "../domain/sealing-context.ts";
import { findSecret } from "../store/endpoint.ts";
import { findDelivery, listAttempts } from "../store/log/read.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";

/** The end of the year 9999, as far as a Timestamp reaches. */
const MAX_RECEIVED_AT_SECONDS = 253_402_300_799n;

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

export function debugSignature(deps: {
  pool: Pool;
  secretBox: Pick<SecretBox, "open">;
  now: () => Date;
}): ServiceImpl<typeof DeliveryService>["debugSignature"] {
  const { pool, secretBox, now } = deps;
  return async (request, context) => {
    const { workspaceId } = principalOf(context);
    const key = endpointKey({ workspaceId }, request.endpointId);
    refuseOversized(request);
    refuseReceivedAt(request);
    const found = await findSecret(pool, key);
    if (!found) throw noSuchEndpoint();
    const headers = readSignatureHeaders(request.headers);
    const sent = await sentOf(pool, { ...key, deliveryId: request.deliveryId || headers.deliveryId }, now());
    const receivedMs = request.receivedAt ? timestampMs(request.receivedAt) : now().getTime();
    const diagnosis = diagnose({
      ...sent,
      secret: secretBox.open(found.secret, sealingContext(key.endpointId)),
      headers: request.headers,
      body: request.body,
      receivedAt: receivedMs / 1000,
    });
    const { scheme, headerFault, signedAt, timeWithinTolerance, secondsOff, matches, mistakes, bodyDiffersAt } =
      diagnosis;
    return {
      scheme: toScheme(scheme),
      headerFault,
      timeWithinTolerance,
      secondsOff: BigInt(secondsOff),
      signatureMatches: matches,
      mistakes: mistakes.map((mistake) => MISTAKE[mistake]),
      secretReplacedSince: signedAt !== undefined && (found.replacedAt?.getTime() ?? 0) > signedAt * 1000,
      ...(bodyDiffersAt !== undefined && { bodyDiffersAt }),
    };
  };
}

function toScheme(scheme: Diagnosis["scheme"]): SignatureScheme {
  if (scheme === undefined) return SignatureScheme.UNSPECIFIED;
  return scheme === "service" ? SignatureScheme.SERVICE : SignatureScheme.STANDARD_WEBHOOKS;
}

function refuseOversized({ body, headers }: DebugSignatureRequest): void {
  if (body.length > MAX_DIAGNOSED_BYTES) throw new ConnectError("body: at most 256 KB", Code.InvalidArgument);
  if (headers.length > MAX_HEADER_TEXT_CHARS) {
    throw new ConnectError(`headers: at most ${MAX_HEADER_TEXT_CHARS} characters`, Code.InvalidArgument);
  }
}

function refuseReceivedAt({ receivedAt }: DebugSignatureRequest): void {
  if (receivedAt && (receivedAt.seconds < 0n || receivedAt.seconds > MAX_RECEIVED_AT_SECONDS)) {
    throw new ConnectError("received_at: is no time from 1970 to 9999", Code.InvalidArgument);
  }
}

/** What was sent with the delivery, when it is one of this endpoint. */
async function sentOf(pool: Pool, key: { workspaceId: string; endpointId: number; deliveryId: string }, at: Date) {
  const found = await findDelivery(pool, key.workspaceId, key.deliveryId, at);
  if (found?.delivery.endpointId !== key.endpointId) return {};
  const attempts = await listAttempts(pool, key.deliveryId);
  const attemptTimes = attempts.flatMap(({ signedAt }) => (signedAt ? [signedAt.getTime() / 1000] : []));
  return { attemptTimes, ...(found.body.length > 0 && { sentBody: found.body }) };
}
