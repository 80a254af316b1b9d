import { Link } from "@tanstack/react-router";
import type { Delivery } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { UNDELIVERED } from "../../text/en/webhooks/undelivered.ts";
import { Time } from "../../ui/time.tsx";
import { maxAttempts } from "../deliveries/delivery-sentence.ts";
import { DeliveryStatusBadge, kindWord } from "../deliveries/delivery-status.tsx";
import styles from "./undelivered.module.css";

/** The deliveries of an event to one endpoint, newest first. */
export function DeliveriesOf({ of }: { of: readonly Delivery[] }) {
  if (of.length === 0) return <p className={styles.dim}>{UNDELIVERED.noDeliveries}</p>;
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th>Kind</th>
          <th>Status</th>
          <th>Attempts</th>
          <th>Created</th>
        </tr>
      </thead>
      <tbody>
        {of.map((delivery) => (
          <tr key={delivery.id}>
            <td>
              <Link to="/webhooks/deliveries" search={{ open: delivery.id, event: delivery.eventId }}>
                {kindWord(delivery.kind)}
              </Link>
            </td>
            <td>
              <DeliveryStatusBadge {...delivery} />
            </td>
            <td>
              {delivery.attempts} of {maxAttempts(delivery)}
            </td>
            <td>
              <Time at={delivery.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
