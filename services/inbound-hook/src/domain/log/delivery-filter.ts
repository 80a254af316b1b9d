export type DeliveryStatus = "waiting" | "running" | "succeeded" | "failed" | "interrupted";

/** A search of the hook log; absent members match everything. */
export interface DeliveryFilter {
  workspaceId: string;
  hookId?: number;
  statuses?: readonly DeliveryStatus[];
  /** The sender's own id of the call. */
  externalId?: string;
  /** Id of the HTTP request. */
  requestId?: string;
}
