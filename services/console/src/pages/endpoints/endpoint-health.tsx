import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { Cap, DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { AttemptResult, Endpoint, EndpointHealth } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import {
  backlogText,
  FAILING_TEXT,
  FULL_CAPS,
  healthText,
  resultText,
} from "../../text/en/webhooks/endpoint-health.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Section } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { answerText } from "../deliveries/delivery-sentence.ts";
import styles from "./endpoints.module.css";

const POLL_MS = 3_000;

export function Health({ of, health }: { of: Endpoint; health: EndpointHealth }) {
  const { lastResult, lastFailure } = health;
  const olderFailure = lastFailure?.deliveryId === lastResult?.deliveryId ? undefined : lastFailure;
  return (
    <Section title={ENDPOINTS.health}>
      <p>{healthText(of, health)}</p>
      {lastResult && <Result label="Last delivery" of={lastResult} />}
      {olderFailure && <Result label="Last failure" of={olderFailure} />}
    </Section>
  );
}

function Result({ label, of }: { label: string; of: AttemptResult }) {
  return (
    <p>
      <span className={styles.dim}>{label}</span>, <Time at={of.at} />: {resultText(of, answerText(of))}{" "}
      <Link to="/webhooks/deliveries" search={{ open: of.deliveryId }}>
        {ENDPOINTS.showDelivery}
      </Link>
    </p>
  );
}

/** What waits for the endpoint, and why. */
export function Backlog({ endpointId }: { endpointId: bigint }) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(
    DeliveryService.method.getEndpointBacklog,
    { workspace, endpointId },
    { refetchInterval: POLL_MS },
  );
  return (
    <Section title={ENDPOINTS.backlog}>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {data && <p>{backlogText(data)}</p>}
      {data?.oldestDueAt && (
        <p>
          The oldest was due <Time at={data.oldestDueAt} />: {FULL_CAPS[data.fullCap] ?? FULL_CAPS[Cap.UNSPECIFIED]}
        </p>
      )}
      {data?.nextDueAt && (
        <p>
          Next retry: <Time at={data.nextDueAt} />
        </p>
      )}
      {data?.failing && <p className={styles.dim}>{FAILING_TEXT}</p>}
    </Section>
  );
}
