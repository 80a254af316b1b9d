import { type UndeliveredEvent, UndeliveredReason } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { Column } from "../../ui/list/resource-list.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { Url } from "../deliveries/delivery-columns.tsx";
import type { Endpoints } from "../deliveries/use-endpoints.ts";

/** An event may be undelivered to several endpoints. */
export function keyOf({ eventId, endpointId }: Pick<UndeliveredEvent, "eventId" | "endpointId">): string {
  return `${eventId}:${endpointId}`;
}

export function Reason({ reason }: Pick<UndeliveredEvent, "reason">) {
  if (reason === UndeliveredReason.FAILED) return <Status tone="bad">Delivery failed</Status>;
  if (reason === UndeliveredReason.CANCELLED) return <Status tone="dim">Delivery cancelled</Status>;
  return (
    <Status tone="dim" icon="warn">
      Endpoint inactive
    </Status>
  );
}

export function columnsOf({ urlOf }: Endpoints, isNarrow: boolean): readonly Column<UndeliveredEvent>[] {
  const first: readonly Column<UndeliveredEvent>[] = [
    { header: "Reason", width: "145px", render: (row) => <Reason {...row} /> },
    { header: "Endpoint", width: "minmax(100px, 2fr)", render: ({ endpointId }) => <Url url={urlOf(endpointId)} /> },
    { header: "Happened", width: "100px", render: ({ eventAt }) => <Time at={eventAt} /> },
  ];
  if (isNarrow) return first;
  return [
    ...first,
    { header: "Last response", width: "minmax(80px, 1fr)", render: (row) => lastResponse(row) },
    { header: "Undelivered", width: "100px", render: ({ undeliveredAt }) => <Time at={undeliveredAt} /> },
  ];
}

function lastResponse({ responseCode, error }: UndeliveredEvent) {
  const text = responseCode === 0 ? error.replace("connection error: ", "") : String(responseCode);
  return <span title={text}>{text || "–"}</span>;
}
