import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Attempt, type AttemptResult, AttemptResultSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { SafeFetchResult } from "@toolgate/safe-fetch/result";
import { attemptDuration } from "@toolgate/telemetry/instruments";
import { inSpanOf, SpanKind } from "@toolgate/telemetry/trace";
import { BODY_DEADLINE_MS, MAX_RESPONSE_BYTES } from "../domain/outcome.ts";
import { responseText } from "../domain/response-text.ts";

const STATUS_CLASS = 100;
const MS_PER_SECOND = 1_000;

export interface AttemptOptions {
  safeFetch: Pick<SafeFetch, "send">;
  attemptDeadlineMs: number;
  now: () => Date;
}

/** Whether the lease might expire before the attempt has ended; the delivery is then attempted again. */
export function isTooLate(attempt: Pick<Attempt, "notAfterMs">, now: Date): boolean {
  return now.getTime() > Number(attempt.notAfterMs);
}

/**
 * Makes one attempt. Anything that the receiver does is a result, not an error. Undefined when this process aborted the
 * attempt, which is then made again.
 */
export function runAttempt(attempt: Attempt, options: AttemptOptions): Promise<AttemptResult | undefined> {
  if (attempt.traceparent === "") return sendAttempt(attempt, options);
  const attributes = { "toolgate.delivery_id": attempt.deliveryId, "toolgate.attempt": attempt.number };
  return inSpanOf(attempt, "attempt", () => sendAttempt(attempt, options), { kind: SpanKind.CLIENT, attributes });
}

async function sendAttempt(
  attempt: Attempt,
  { safeFetch, attemptDeadlineMs, now }: AttemptOptions,
): Promise<AttemptResult | undefined> {
  const startedAtMs = now().getTime();
  const result = await safeFetch.send({
    url: attempt.url,
    workspaceId: attempt.workspaceId,
    method: "POST",
    headers: attempt.headers,
    body: attempt.body,
    deadlineMs: attemptDeadlineMs,
    bodyDeadlineMs: BODY_DEADLINE_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    // A kept connection that the receiver has closed does not delay the delivery: it is sent again. [OUT-57]
    reuseKey: String(attempt.endpointId),
  });
  if (result.kind === "aborted") return undefined;
  const outcome = result.kind === "response" ? `${Math.floor(result.status / STATUS_CLASS)}xx` : result.kind;
  const { timings } = result;
  attemptDuration.record(timings.totalMs / MS_PER_SECOND, { outcome });
  return create(AttemptResultSchema, {
    deliveryId: attempt.deliveryId,
    number: attempt.number,
    workspaceId: attempt.workspaceId,
    startedAtMs: BigInt(startedAtMs),
    signedAtSeconds: attempt.signedAtSeconds,
    durationMs: Math.round(timings.totalMs),
    address: timings.address ?? "",
    dnsMs: Math.round(timings.dnsMs ?? 0),
    connectMs: Math.round(timings.connectMs ?? 0),
    tlsMs: Math.round(timings.tlsMs ?? 0),
    firstByteMs: Math.round(timings.firstByteMs ?? 0),
    ...endOf(result),
  });
}

/** Says that an attempt was not made, so that its delivery is due again. */
export function notMade({ deliveryId, workspaceId, number, notAfterMs }: Attempt): AttemptResult {
  return create(AttemptResultSchema, { deliveryId, workspaceId, number, givenBackNotAfterMs: notAfterMs });
}

/** The response, or why there is none. */
function endOf(result: Exclude<SafeFetchResult, { kind: "aborted" }>): MessageInitShape<typeof AttemptResultSchema> {
  switch (result.kind) {
    case "response":
      return { responseCode: result.status, response: responseText(result.body) };
    case "refused":
      return { error: result.reason };
    case "timeout":
      return { error: `timeout (${result.phase})` };
    case "connection-error":
      return { error: `connection error: ${result.message}` };
  }
}
