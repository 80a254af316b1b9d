import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import type { Delivery, GetDeliveryResponse } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { ReactNode } from "react";
import { Time } from "../../ui/time.tsx";
import { DeliveryStatusBadge, kindWord } from "./delivery-status.tsx";
import { spanText, tookText } from "./duration.ts";
import type { Endpoints } from "./use-endpoints.ts";

const LONG_MS = 60_000;

export function factsOf(
  { firstAttemptAfter, endedAfter }: GetDeliveryResponse,
  delivery: Delivery,
  { urlOf }: Endpoints,
): readonly (readonly [string, ReactNode])[] {
  const { endpointId, eventId, requestId, kind } = delivery;
  return [
    ["Status", <DeliveryStatusBadge key="status" {...delivery} />],
    ["Kind", kindWord(kind)],
    [
      "Endpoint",
      <Link key="endpoint" to="/webhooks" search={{ open: String(endpointId) }}>
        {urlOf(endpointId)}
      </Link>,
    ],
    ["Event", <code key="event">{eventId}</code>],
    [
      "Request",
      requestId === "" ? (
        "none"
      ) : (
        <Link key="request" to="/webhooks/deliveries" search={{ request: requestId, open: delivery.id }}>
          <code>{requestId}</code>
        </Link>
      ),
    ],
    ["Created", <Time key="created" at={delivery.createdAt} exact />],
    ["First attempt", firstAttemptAfter ? `${delayText(firstAttemptAfter)} later` : "not made"],
    ["Ended", endedAfter ? `${delayText(endedAfter)} later` : "not yet"],
    ["Delivery id", <code key="id">{delivery.id}</code>],
  ];
}

function delayText(duration: Duration): string {
  const ms = durationMs(duration);
  return ms < LONG_MS ? tookText(ms) : spanText(ms);
}
