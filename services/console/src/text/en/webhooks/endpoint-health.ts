import { Cap, DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { AttemptResult, Endpoint, EndpointHealth } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";

/** Failed deliveries in a row that deactivate an endpoint. [OUT-48] */
export const FAILURES_TO_DEACTIVATE = 5;
const MAX_ATTEMPTS = 6;

export function isDeactivatedByFailures({ active, failuresInARow }: Endpoint): boolean {
  return !active && failuresInARow >= FAILURES_TO_DEACTIVATE;
}

export function waitingCount({ waiting, waitingIsMore }: Pick<EndpointHealth, "waiting" | "waitingIsMore">): string {
  return `${waiting.toLocaleString("en")}${waitingIsMore ? "+" : ""}`;
}

/** How the endpoint does, without its last result. */
export function healthText(endpoint: Endpoint, { lastResult, waiting, inFlight }: EndpointHealth): string {
  const { active, failuresInARow } = endpoint;
  if (isDeactivatedByFailures(endpoint)) {
    return "Toolgate deactivated it because 5 deliveries in a row failed. Nothing is sent to it until you re-activate it.";
  }
  if (!active) return "It is deactivated. Nothing is sent to it until you re-activate it.";
  if (!lastResult && waiting + inFlight > 0) return "Of its newest deliveries, none has been tried yet.";
  if (!lastResult) {
    return "Nothing has been sent to it yet. Send a test event to see whether your server accepts it.";
  }
  if (failuresInARow > 0) {
    const failed = failuresInARow === 1 ? "The last delivery" : `The last ${failuresInARow} deliveries`;
    return `${failed} failed for good. At ${FAILURES_TO_DEACTIVATE} in a row, Toolgate deactivates the endpoint.`;
  }
  return lastResult.status === DeliveryStatus.DELIVERED
    ? "It accepts deliveries."
    : "Its last delivery was not accepted.";
}

/** The last attempt at a delivery, with how the server answered it. */
export function resultText({ attempt, status, eventType }: AttemptResult, answer: string): string {
  const isRetried = status === DeliveryStatus.RETRYING;
  // A test, and a delivery to which the server answered 410, has only one attempt.
  const which = isRetried || attempt > 1 ? `, attempt ${attempt} of ${MAX_ATTEMPTS}` : "";
  return `${eventType}${which}: ${answer}${isRetried ? " It will be tried again." : ""}`;
}

/** How many deliveries wait and are under way. */
export function backlogText({
  waiting,
  waitingIsMore,
  inFlight,
}: Pick<EndpointHealth, "waiting" | "waitingIsMore" | "inFlight">): string {
  if (waiting === 0 && inFlight === 0) return "Nothing waits, and no attempt is under way.";
  const waits = waiting === 1 ? "1 delivery waits" : `${waitingCount({ waiting, waitingIsMore })} deliveries wait`;
  return `${waits}, and ${ATTEMPTS[inFlight] ?? `${inFlight} attempts are`} under way.`;
}

const ATTEMPTS: Readonly<Record<number, string>> = { 0: "no attempt is", 1: "1 attempt is" };

/** The events of the last 30 days that an endpoint should have received and did not. */
export function missedText(events: number, more: boolean): string {
  if (events === 0) return "It has missed no events.";
  const count = `${events.toLocaleString("en")}${more ? "+" : ""}`;
  return events === 1 ? "1 event has not reached it." : `${count} events have not reached it.`;
}

/** Why the delivery that has waited longest has no slot yet. */
export const FULL_CAPS: Readonly<Record<Cap, string>> = {
  [Cap.UNSPECIFIED]: "it starts as soon as a worker is free.",
  [Cap.ENDPOINT]: "the endpoint has all its attempts under way.",
  [Cap.WORKSPACE]: "the workspace has all its attempts under way.",
  [Cap.FAILING_ENDPOINTS]: "the attempts that failing and slow endpoints share are all under way.",
};

export const FAILING_TEXT =
  "The last attempt failed or took longer than 2 s, so only one attempt at a time is made until one succeeds quickly.";
