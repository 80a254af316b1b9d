import type { AttemptResult, Endpoint } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { FAILURES_TO_DEACTIVATE, isDeactivatedByFailures } from "../../text/en/webhooks/endpoint-health.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Status } from "../../ui/status.tsx";

export function EndpointStatusBadge(endpoint: Endpoint) {
  const { active, failuresInARow } = endpoint;
  if (isDeactivatedByFailures(endpoint)) return <Status tone="bad">{ENDPOINTS.deactivatedByFailures}</Status>;
  if (!active) return <Status tone="dim">{ENDPOINTS.deactivated}</Status>;
  if (failuresInARow === 0) return <Status tone="good">{ENDPOINTS.active}</Status>;
  return (
    <Status tone="warn" icon="warn">
      {`${failuresInARow} of ${FAILURES_TO_DEACTIVATE} failures`}
    </Status>
  );
}

/** The URL as people name it: all of them begin with https. */
export function nameOf({ url }: Pick<Endpoint, "url">): string {
  return url.replace(/^https:\/\//, "").replace(/\/$/, "");
}

/** Such as 500, or what went wrong before there was a response. */
export function shortResult({ responseCode, error }: AttemptResult): string {
  return responseCode > 0 ? String(responseCode) : error;
}
