import { type ReceiveResponse, RefusalReason } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import type { ErrorCode } from "./error-codes.ts";
import { type ApiResponse, INTERNAL_ERROR, NOT_FOUND, RETRY_AFTER_HEADER } from "./responses.ts";

/** [IN-31] Texts that name neither what was checked nor what was found. */
const REFUSALS: Partial<Record<RefusalReason, ApiResponse>> = {
  // [IN-16] [IN-17] [IN-18]
  [RefusalReason.NOT_FOUND]: NOT_FOUND,
  [RefusalReason.LOOP]: refusal(508, "LOOP_DETECTED", "Schleife erkannt"),
  [RefusalReason.TOO_LARGE]: refusal(413, "BODY_TOO_LARGE", "Anfrage zu gross"),
  [RefusalReason.LOCKED]: refusal(403, "HOOK_UNAVAILABLE", "Nicht verfuegbar"),
  [RefusalReason.UNAUTHENTICATED]: {
    ...refusal(401, "UNAUTHENTICATED", "Nicht autorisiert"),
    headers: { "www-authenticate": "Bearer" },
  },
  [RefusalReason.RATE_LIMITED]: refusal(429, "RATE_LIMITED", "Aufruflimit erreicht"),
};

/** For a call that may not have been stored: the sender should repeat it, with the same id. */
export const HOOK_UNAVAILABLE: ApiResponse = {
  ...refusal(503, "TRY_AGAIN", "Voruebergehend nicht verfuegbar"),
  headers: { [RETRY_AFTER_HEADER]: "1" },
};

/** The response to a hook call. */
export function hookResponse({ outcome }: ReceiveResponse): ApiResponse {
  switch (outcome.case) {
    // [IN-22] [IN-35]
    case "acceptedDeliveryId":
      return { status: 202, body: encode({ success: true, accepted: true, delivery_id: outcome.value }) };
    // [IN-23]
    case "duplicateDeliveryId":
      return { status: 200, body: encode({ success: true, duplicate: true, delivery_id: outcome.value }) };
    case "refusal": {
      const { reason, retryAfterSeconds, bodyFault } = outcome.value;
      if (reason === RefusalReason.INVALID_BODY) return invalidBody(bodyFault);
      // This gateway may not know a reason of a newer service.
      const response = REFUSALS[reason] ?? INTERNAL_ERROR;
      if (reason !== RefusalReason.RATE_LIMITED) return response;
      // [IN-30]
      return { ...response, headers: { [RETRY_AFTER_HEADER]: String(retryAfterSeconds) } };
    }
    default:
      return INTERNAL_ERROR;
  }
}

/** [IN-25] The call is verified, so its sender may know. */
function invalidBody(message: string): ApiResponse {
  const details = [{ field: "", rule: "body", message }];
  return { status: 400, code: "BAD_REQUEST", body: encode({ success: false, error: "Ungueltige Anfrage", details }) };
}

function refusal(status: number, code: ErrorCode, error: string): ApiResponse {
  return { status, code, body: encode({ success: false, error }) };
}

function encode(members: object): Buffer {
  return Buffer.from(JSON.stringify(members));
}
