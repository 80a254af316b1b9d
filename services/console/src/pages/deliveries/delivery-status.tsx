import {
  type Delivery,
  DeliveryKind,
  DeliveryStatus,
  Wait,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { Status } from "../../ui/status.tsx";

export const STATUS_OF = {
  pending: DeliveryStatus.PENDING,
  retrying: DeliveryStatus.RETRYING,
  delivered: DeliveryStatus.DELIVERED,
  failed: DeliveryStatus.FAILED,
  cancelled: DeliveryStatus.CANCELLED,
} as const;

export const KIND_OF = {
  event: DeliveryKind.EVENT,
  test: DeliveryKind.TEST,
  resend: DeliveryKind.RESEND,
  replay: DeliveryKind.REPLAY,
} as const;

export const STATUS_WORDS: Readonly<Record<keyof typeof STATUS_OF, string>> = {
  pending: "Pending",
  retrying: "Retrying",
  delivered: "Delivered",
  failed: "Failed",
  cancelled: "Cancelled",
};

export const KIND_WORDS: Readonly<Record<keyof typeof KIND_OF, string>> = {
  event: "Event",
  test: "Test",
  resend: "Resend",
  replay: "Replay",
};

export function DeliveryStatusBadge({ status, waitsFor }: Pick<Delivery, "status" | "waitsFor">) {
  const isTrying = waitsFor === Wait.IN_FLIGHT;
  switch (status) {
    case DeliveryStatus.DELIVERED:
      return <Status tone="good">Delivered</Status>;
    case DeliveryStatus.FAILED:
      return <Status tone="bad">Failed</Status>;
    case DeliveryStatus.CANCELLED:
      return <Status tone="dim">Cancelled</Status>;
    case DeliveryStatus.RETRYING:
      return <Status tone="warn">{isTrying ? "Trying again" : "Retrying"}</Status>;
    default:
      return (
        <Status tone="dim" icon="wait">
          {isTrying ? "Trying" : "Pending"}
        </Status>
      );
  }
}

export function kindWord(kind: DeliveryKind): string {
  const found = Object.entries(KIND_OF).find(([, value]) => value === kind);
  return found ? KIND_WORDS[found[0] as keyof typeof KIND_OF] : "";
}
