export type DeliveryStatusName = "pending" | "retrying" | "delivered" | "failed" | "cancelled";
export type DeliveryKindName = "event" | "test" | "resend" | "replay";

/** A search of the delivery log; absent members match everything. */
export interface DeliveryFilter {
  workspaceId: string;
  endpointId?: number | undefined;
  eventId?: string | undefined;
  /** Id of the HTTP request that caused the event. */
  requestId?: string | undefined;
  /** One type, or `custom.*`. */
  eventType?: string | undefined;
  statuses?: readonly DeliveryStatusName[] | undefined;
  kind?: DeliveryKindName | undefined;
  /** Created then or later. */
  from?: Date | undefined;
  /** Created before. */
  to?: Date | undefined;
}
