import { type ReceiveResponse, RefusalReason } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { type ApiResponse, failure, INTERNAL_ERROR, NOT_FOUND, retriedAfter, success } from "./responses.ts";

/** [IN-31] Texts that name neither what was checked nor what was found. */
const REFUSALS: Partial<Record<RefusalReason, ApiResponse>> = {
  // [IN-16] [IN-17] [IN-18]
  [RefusalReason.NOT_FOUND]: NOT_FOUND,
  [RefusalReason.LOOP]: failure(508, "LOOP_DETECTED", "Schleife erkannt"),
  [RefusalReason.TOO_LARGE]: failure(413, "BODY_TOO_LARGE", "Anfrage zu gross"),
  [RefusalReason.LOCKED]: failure(403, "HOOK_UNAVAILABLE", "Nicht verfuegbar"),
  [RefusalReason.UNAUTHENTICATED]: {
    ...failure(401, "UNAUTHENTICATED", "Nicht autorisiert"),
    headers: { "www-authenticate": "Bearer" },
  },
  [RefusalReason.RATE_LIMITED]: failure(429, "RATE_LIMITED", "Aufruflimit erreicht"),
};

/** For a call that may not have been stored: the sender should repeat it, with the same id. */
export const HOOK_UNAVAILABLE = retriedAfter(failure(503, "TRY_AGAIN", "Voruebergehend nicht verfuegbar"), 1);

/** The response to a hook call. */
export function hookResponse({ outcome }: ReceiveResponse): ApiResponse {
  switch (outcome.case) {
    // [IN-22] [IN-35]
    case "acceptedDeliveryId":
      return success(202, { accepted: true, delivery_id: outcome.value });
    // [IN-23]
    case "duplicateDeliveryId":
      return success(200, { duplicate: true, delivery_id: outcome.value });
    case "refusal": {
      const { reason, retryAfterSeconds, bodyFault } = outcome.value;
      if (reason === RefusalReason.INVALID_BODY) return invalidBody(bodyFault);
      // This gateway may not know a reason of a newer service.
      const response = REFUSALS[reason] ?? INTERNAL_ERROR;
      // [IN-30]
      return reason === RefusalReason.RATE_LIMITED ? retriedAfter(response, retryAfterSeconds) : response;
    }
    default:
      return INTERNAL_ERROR;
  }
}

/** [IN-25] The call is verified, so its sender may know. */
function invalidBody(message: string): ApiResponse {
  return failure(400, "BAD_REQUEST", "Ungueltige Anfrage", { details: [{ field: "", rule: "body", message }] });
}
