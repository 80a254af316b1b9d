import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { DeliveryService, DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { UndeliveredEvent } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { useEffect, useRef } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { UNDELIVERED } from "../../text/en/webhooks/undelivered.ts";
import { Button } from "../../ui/button.tsx";
import { useNow } from "../../ui/clock.ts";
import { toast } from "../../ui/dialog/toast.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Facts, Panel, Section } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { deliverySentence, hasEnded } from "../deliveries/delivery-sentence.ts";
import { pollMs } from "../deliveries/poll-ms.ts";
import { ResendButton } from "../deliveries/resend-button.tsx";
import type { Endpoints } from "../deliveries/use-endpoints.ts";
import { DeliveriesOf } from "./deliveries-of.tsx";
import type { ReplayStart } from "./replay-request.ts";
import styles from "./undelivered.module.css";
import { Reason } from "./undelivered-columns.tsx";

const MINUTE_MS = 60_000;
const KEY = /^(.+):([0-9]{1,16})$/;

interface UndeliveredPanelProps {
  openKey: string;
  /** Undefined when the event is not undelivered, or not among the rows that are loaded. */
  row: UndeliveredEvent | undefined;
  endpoints: Endpoints;
  onClose: () => void;
  onReplay: (start: ReplayStart) => void;
  onChanged: () => void;
}

/** An event that an endpoint has missed, and its deliveries to it; a resend is followed to its end. */
export function UndeliveredPanel({ openKey, row, endpoints, onClose, onReplay, onChanged }: UndeliveredPanelProps) {
  const workspace = useWorkspace();
  const now = useNow();
  const [, eventId = "", endpoint = "0"] = KEY.exec(openKey) ?? [];
  const endpointId = BigInt(endpoint);
  const { data, error, refetch } = useQuery(
    DeliveryService.method.listDeliveries,
    { workspace, eventId, endpointId },
    { refetchInterval: ({ state }) => pollMs(state.data?.deliveries) },
  );
  const last = data?.deliveries[0];
  const state = last && `${last.id} ${last.status}`;
  const seen = useRef(state);
  // What is shown first is nothing new to the list.
  useEffect(() => {
    if (seen.current !== undefined && seen.current !== state) onChanged();
    seen.current = state;
  }, [state]);
  const eventType = row?.eventType ?? last?.eventType;
  return (
    <Panel
      title={eventType ?? UNDELIVERED.title}
      onClose={onClose}
      actions={
        <>
          {last && hasEnded(last) && last.status !== DeliveryStatus.DELIVERED && (
            <ResendButton
              isPrimary
              deliveryId={last.id}
              onResent={() => {
                toast(UNDELIVERED.resent);
                void refetch();
              }}
            />
          )}
          {data && !last && row && <Button onClick={() => onReplay(startOf(row))}>{UNDELIVERED.replayIt}</Button>}
        </>
      }
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {last && <p className={styles.sentence}>{deliverySentence(last, now)}</p>}
      {data && !last && <p className={styles.sentence}>{row ? UNDELIVERED.neverSent : UNDELIVERED.unknown}</p>}
      <Facts
        facts={[
          ["Reason", row ? <Reason key="reason" {...row} /> : UNDELIVERED.gone],
          [
            "Endpoint",
            <Link key="endpoint" to="/webhooks" search={{ open: endpoint }}>
              {endpoints.urlOf(endpointId)}
            </Link>,
          ],
          [
            "Event",
            <Link key="event" to="/webhooks/deliveries" search={{ event: eventId }}>
              <code>{eventId}</code>
            </Link>,
          ],
          ["Time of the event", <Time key="at" at={row?.eventAt} exact never="–" />],
          ["Undelivered since", <Time key="since" at={row?.undeliveredAt} exact never="–" />],
        ]}
      />
      <Section title={UNDELIVERED.deliveries}>
        <DeliveriesOf of={data?.deliveries ?? []} />
      </Section>
    </Panel>
  );
}

/** A replay of about this one event. */
function startOf({ endpointId, eventType, eventAt }: UndeliveredEvent): ReplayStart {
  const endpoint = String(endpointId);
  if (!eventAt) return { endpoint, types: [eventType] };
  const minute = Math.floor(timestampDate(eventAt).getTime() / MINUTE_MS) * MINUTE_MS;
  const [from, to] = [new Date(minute).toISOString(), new Date(minute + MINUTE_MS).toISOString()];
  return { endpoint, types: [eventType], from, to };
}
