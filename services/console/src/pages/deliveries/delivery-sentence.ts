import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type Attempt,
  Cap,
  type Delivery,
  DeliveryKind,
  DeliveryStatus,
  Wait,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { FAILURES, TIMEOUTS } from "../../text/en/webhooks/deliveries.ts";
import { spanText, tookText } from "./duration.ts";

const MAX_ATTEMPTS = 6;
const GONE = 410;
const TIMEOUT = /^timeout \((\w+)\)$/;
const CONNECTION_ERROR = "connection error: ";

export function maxAttempts({ kind }: Pick<Delivery, "kind">): number {
  return kind === DeliveryKind.TEST ? 1 : MAX_ATTEMPTS;
}

export function hasEnded({ status }: Pick<Delivery, "status">): boolean {
  return status === DeliveryStatus.DELIVERED || status === DeliveryStatus.FAILED || status === DeliveryStatus.CANCELLED;
}

/** What happened to a delivery and what happens next, in words. */
export function deliverySentence(delivery: Delivery, now: number): string {
  const answer = delivery.attempts === 0 ? "" : `${answerText(delivery)} `;
  switch (delivery.status) {
    case DeliveryStatus.DELIVERED:
      return answer + deliveredText(delivery);
    case DeliveryStatus.FAILED:
      return answer + failedText(delivery);
    case DeliveryStatus.CANCELLED:
      return answer + cancelledText(delivery);
    default:
      return answer + waitText(delivery, now);
  }
}

/** How your server answered an attempt that has ended. */
export function answerText({
  responseCode,
  durationMs,
  error,
}: Pick<Attempt, "responseCode" | "durationMs" | "error">): string {
  if (responseCode >= 300 && responseCode < 400)
    return `Your server answered ${responseCode} after ${tookText(durationMs)}. Redirects are not followed.`;
  if (responseCode > 0) return `Your server answered ${responseCode} after ${tookText(durationMs)}.`;
  const phase = TIMEOUT.exec(error)?.[1];
  if (phase) return `${TIMEOUTS[phase] ?? TIMEOUTS.headers} within ${tookText(durationMs)}.`;
  const known = FAILURES[error];
  if (known) return known;
  if (error.startsWith(CONNECTION_ERROR)) return `Your server gave no answer: ${error.slice(CONNECTION_ERROR.length)}.`;
  return `Nothing was sent: ${error}.`;
}

function deliveredText({ attempts, kind }: Delivery): string {
  if (kind === DeliveryKind.TEST) return "The test was delivered.";
  return attempts === 1 ? "Delivered on the first attempt." : `Delivered on attempt ${attempts} of ${MAX_ATTEMPTS}.`;
}

function failedText({ attempts, kind, responseCode }: Delivery): string {
  if (kind === DeliveryKind.TEST) return "A test is tried only once.";
  if (responseCode === GONE)
    return `410 means “gone”, so it is not retried after attempt ${attempts} of ${MAX_ATTEMPTS}.`;
  return `That was attempt ${attempts} of ${MAX_ATTEMPTS}: it is not retried.`;
}

function cancelledText({ attempts, kind }: Delivery): string {
  const when = attempts === 0 ? "before the first attempt" : `after attempt ${attempts} of ${MAX_ATTEMPTS}`;
  const replay = kind === DeliveryKind.REPLAY ? "its replay was cancelled, or " : "";
  return `Cancelled ${when}: ${replay}the endpoint was deactivated or deleted.`;
}

function waitText(delivery: Delivery, now: number): string {
  const { attempts, waitsFor, nextAttemptAt } = delivery;
  const next = attempts === 0 ? "The first attempt" : `Attempt ${attempts + 1} of ${maxAttempts(delivery)}`;
  switch (waitsFor) {
    case Wait.IN_FLIGHT:
      return `${next} is under way.`;
    case Wait.RETRY:
      return `Attempt ${attempts} of ${MAX_ATTEMPTS}; next in ${spanText((nextAttemptAt ? timestampMs(nextAttemptAt) : now) - now)}.`;
    case Wait.SLOT:
      return `${next} ${slotText(delivery, now)}`;
    default:
      return `${next} is about to start.`;
  }
}

function slotText({ waitsSince, fullCap }: Delivery, now: number): string {
  const waited = waitsSince ? now - timestampMs(waitsSince) : 0;
  const isDue = `has been due for ${spanText(waited)}:`;
  switch (fullCap) {
    case Cap.ENDPOINT:
      return `${isDue} this endpoint already has its maximum of attempts under way.`;
    case Cap.WORKSPACE:
      return `${isDue} the workspace already has its maximum of attempts under way.`;
    case Cap.FAILING_ENDPOINTS:
      return `${isDue} this endpoint failed or was slow last time, so it shares a few slots with others like it.`;
    default:
      return waited < 2_000 ? "is about to start." : `${isDue} older deliveries go first.`;
  }
}
