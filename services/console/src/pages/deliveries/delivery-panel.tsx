import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  type Delivery,
  DeliveryService,
  DeliveryStatus,
  type GetDeliveryResponse,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { useEffect } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { DELIVERIES } from "../../text/en/webhooks/deliveries.ts";
import { useNow } from "../../ui/clock.ts";
import { BodyView } from "../../ui/code/body-view.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Facts, Panel, Section } from "../../ui/page/panel.tsx";
import { SignatureCheck } from "../signature/signature-check.tsx";
import { Attempts } from "./attempts.tsx";
import { CurlCommand } from "./curl-command.tsx";
import styles from "./deliveries.module.css";
import { factsOf } from "./delivery-facts.tsx";
import { deliverySentence } from "./delivery-sentence.ts";
import { pollMs } from "./poll-ms.ts";
import { ResendButton } from "./resend-button.tsx";
import type { Endpoints } from "./use-endpoints.ts";

interface DeliveryPanelProps {
  deliveryId: string;
  /** What the list shows of it; undefined when it is not among the rows that are loaded. */
  row: Delivery | undefined;
  endpoints: Endpoints;
  onClose: () => void;
  /** Shows another delivery instead, such as the one that a resend has made. */
  onOpen: (deliveryId: string) => void;
  onChanged: () => void;
}

/** What a row shows of how far a delivery is. */
const stateOf = ({ status, attempts, waitsFor }: Delivery) => `${status} ${attempts} ${waitsFor}`;

/** [WMGMT-9] One delivery, which is followed on screen until it has ended. */
export function DeliveryPanel({ deliveryId, row, endpoints, onClose, onOpen, onChanged }: DeliveryPanelProps) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(
    DeliveryService.method.getDelivery,
    { workspace, deliveryId },
    { refetchInterval: ({ state }) => pollMs(state.data?.delivery && [state.data.delivery]) },
  );
  const delivery = data?.delivery;
  const state = delivery && stateOf(delivery);
  const listed = row && stateOf(row);
  // The list stands still while a row is open, but must not contradict the panel.
  useEffect(() => {
    if (state !== undefined && listed !== undefined && state !== listed) onChanged();
  }, [state, listed]);
  return (
    <Panel
      title={delivery?.eventType ?? DELIVERIES.title}
      onClose={onClose}
      actions={
        delivery && (
          <>
            <ResendButton
              deliveryId={delivery.id}
              isPrimary={delivery.status === DeliveryStatus.FAILED}
              onResent={(id) => {
                toast(DELIVERIES.resent);
                onOpen(id);
                onChanged();
              }}
            />
            <Link
              to="/webhooks/deliveries"
              search={{ event: delivery.eventId, open: delivery.id }}
              className={styles.action}
            >
              {DELIVERIES.siblings}
            </Link>
          </>
        )
      }
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {data && delivery && <Contents of={data} delivery={delivery} endpoints={endpoints} />}
    </Panel>
  );
}

interface ContentsProps {
  of: GetDeliveryResponse;
  delivery: Delivery;
  endpoints: Endpoints;
}

function Contents({ of, delivery, endpoints }: ContentsProps) {
  const now = useNow();
  return (
    <>
      <p className={styles.sentence}>{deliverySentence(delivery, now)}</p>
      <Section title={DELIVERIES.attempts}>
        <Attempts of={of.attemptLog} delivery={delivery} />
      </Section>
      <Facts facts={factsOf(of, delivery, endpoints)} />
      <Section title={DELIVERIES.payload}>
        <p className={styles.dim}>{of.body.length === 0 ? DELIVERIES.payloadGone : DELIVERIES.payloadText}</p>
        {of.body.length > 0 && (
          <BodyView label={DELIVERIES.payload} body={of.body} fileName={`${delivery.eventId}.json`} />
        )}
      </Section>
      <Section title={DELIVERIES.curl}>
        <CurlCommand deliveryId={delivery.id} />
      </Section>
      <SignatureCheck endpointId={delivery.endpointId} deliveryId={delivery.id} />
    </>
  );
}
