import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Attempt, type AttemptResult, AttemptResultSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { SafeFetchResult, Timings } from "@toolgate/safe-fetch/result";
import { attemptDuration } from "@toolgate/telemetry/instruments";
import { ATTEMPT_DEADLINE_MS, MAX_RESPONSE_BYTES } from "../domain/outcome.ts";
import { responseText } from "../domain/response-text.ts";

const STATUS_CLASS = 100;
const MS_PER_SECOND = 1_000;

/** Whether the lease would run out before the result is there: the delivery comes again by itself. */
export function isTooLate(attempt: Pick<Attempt, "notAfterMs">, now: Date): boolean {
  return now.getTime() > Number(attempt.notAfterMs);
}

/**
 * Makes one attempt. Whatever the other side does is an outcome and not an error. Undefined when this process ended the
 * attempt: then the delivery comes again by itself.
 */
export async function runAttempt(
  attempt: Attempt,
  safeFetch: Pick<SafeFetch, "send">,
  now: () => Date,
): Promise<AttemptResult | undefined> {
  const startedAtMs = now().getTime();
  const result = await safeFetch.send({
    url: attempt.url,
    method: "POST",
    headers: attempt.headers,
    body: attempt.body,
    deadlineMs: ATTEMPT_DEADLINE_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    poolKey: String(attempt.endpointId),
    // A delivery may rarely arrive twice; a kept connection that has gone must not cost it a minute.
    repeatable: true,
  });
  if (result.kind === "aborted") return undefined;
  const outcome = result.kind === "response" ? `${Math.floor(result.status / STATUS_CLASS)}xx` : result.kind;
  attemptDuration.record(result.timings.totalMs / MS_PER_SECOND, { outcome });
  return create(AttemptResultSchema, {
    deliveryId: attempt.deliveryId,
    number: attempt.number,
    workspaceId: attempt.workspaceId,
    startedAtMs: BigInt(startedAtMs),
    signedAtSeconds: attempt.signedAtSeconds,
    ...phases(result.timings),
    ...answer(result),
  });
}

/**
 * [OUT-57] Says that an attempt was not made here. It was handed out before, to a worker that may have made it and died
 * while a neighbour in the same message was still under way: only the database knows.
 */
export function givenBack({ deliveryId, workspaceId, notAfterMs }: Attempt): AttemptResult {
  return create(AttemptResultSchema, { deliveryId, workspaceId, givenBackNotAfterMs: notAfterMs });
}

type ResultMembers = MessageInitShape<typeof AttemptResultSchema>;

function phases(timings: Timings): ResultMembers {
  return {
    durationMs: Math.round(timings.totalMs),
    address: timings.address ?? "",
    dnsMs: Math.round(timings.dnsMs ?? 0),
    connectMs: Math.round(timings.connectMs ?? 0),
    tlsMs: Math.round(timings.tlsMs ?? 0),
    firstByteMs: Math.round(timings.firstByteMs ?? 0),
  };
}

function answer(result: Exclude<SafeFetchResult, { kind: "aborted" }>): ResultMembers {
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
