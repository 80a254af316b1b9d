export type DeliveryStatusName = "pending" | "retrying" | "delivered" | "failed" | "cancelled";
export type DeliveryKindName = "event" | "test" | "resend" | "replay";

/** What a search of the delivery log asks for; what is left out does not matter. */
export interface DeliveryFilter {
  workspaceId: string;
  endpointId?: number;
  eventId?: string;
  /** One type, or `custom.*`. */
  eventType?: string;
  /** Any of these. */
  statuses?: readonly DeliveryStatusName[];
  kind?: DeliveryKindName;
  /** Created then or later. */
  from?: Date;
  /** Created before. */
  to?: Date;
}

const UUID_TIME_HEX_DIGITS = 12;

/** The smallest delivery id of that millisecond or later: ids are in the order of their times. */
export function firstIdAt(time: Date): string {
  const hex = Math.max(0, Math.ceil(time.getTime())).toString(16).padStart(UUID_TIME_HEX_DIGITS, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}

/** The time that an id begins with. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replace("-", "").slice(0, UUID_TIME_HEX_DIGITS), 16));
}
