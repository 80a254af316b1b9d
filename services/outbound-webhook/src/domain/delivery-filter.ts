export type DeliveryStatusName = "pending" | "retrying" | "delivered" | "failed" | "cancelled";
export type DeliveryKindName = "event" | "test" | "resend" | "replay";

/** A search of the delivery log; absent members match everything. */
export interface DeliveryFilter {
  workspaceId: string;
  endpointId?: number;
  eventId?: string;
  /** Id of the HTTP request that caused the event. */
  requestId?: string;
  /** One type, or `custom.*`. */
  eventType?: string;
  statuses?: readonly DeliveryStatusName[];
  kind?: DeliveryKindName;
  /** Created then or later. */
  from?: Date;
  /** Created before. */
  to?: Date;
}
