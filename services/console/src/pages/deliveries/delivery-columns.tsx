import { type Delivery, DeliveryKind } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Column } from "../../ui/list/resource-list.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./deliveries.module.css";
import { maxAttempts } from "./delivery-sentence.ts";
import { DeliveryStatusBadge, kindWord } from "./delivery-status.tsx";
import { tookText } from "./duration.ts";
import type { Endpoints } from "./use-endpoints.ts";

export function DeliveryName({ eventType, kind }: Delivery) {
  return (
    <>
      {eventType} {kind !== DeliveryKind.EVENT && <span className={styles.kind}>{kindWord(kind)}</span>}
    </>
  );
}

/** Beside an open delivery there is room only for the first of them. */
export function columnsOf({ urlOf }: Endpoints, isNarrow: boolean): readonly Column<Delivery>[] {
  const first: readonly Column<Delivery>[] = [
    { header: "Status", width: "110px", render: (row) => <DeliveryStatusBadge {...row} /> },
    { header: "Endpoint", width: "minmax(100px, 2fr)", render: ({ endpointId }) => <Url url={urlOf(endpointId)} /> },
    { header: "Created", width: "100px", render: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  if (isNarrow) return first;
  return [
    ...first,
    { header: "Attempts", width: "70px", render: (row) => `${row.attempts} of ${maxAttempts(row)}` },
    { header: "Response", width: "70px", align: "end", render: ({ responseCode }) => responseCode || "–" },
    {
      header: "Duration",
      width: "70px",
      align: "end",
      render: ({ attempts, durationMs }) => (attempts === 0 ? "–" : tookText(durationMs)),
    },
  ];
}

export function Url({ url }: { url: string }) {
  return <span title={url}>{url.replace(/^https:\/\//, "")}</span>;
}
