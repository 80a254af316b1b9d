import { type DeedRow, deedRow, writeDeed } from "@toolgate/audit-trail/write";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Principal } from "@toolgate/service-host/principal";
import type { EndpointRow } from "../store/endpoint.ts";
import { SCHEMA } from "../store/queue.ts";

export type AuditAction =
  | "endpoint.create"
  | "endpoint.edit"
  | "endpoint.activate"
  | "endpoint.deactivate"
  | "endpoint.rotate"
  | "endpoint.delete"
  | "replay.start"
  | "replay.cancel";

interface Deed {
  principal: Principal;
  at: Date;
  action: AuditAction;
  fields?: readonly string[];
}

/** Records what a user did to an endpoint, in the transaction of the deed. It is named by its host: a URL may hold a secret. */
export function recordEndpointDeed(
  db: Queryable,
  endpoint: Pick<EndpointRow, "id" | "url">,
  deed: Deed,
): Promise<void> {
  return writeDeed(db, SCHEMA, { ...deed, targetId: String(endpoint.id), target: new URL(endpoint.url).host });
}

/** Records what a user did to a replay, in the transaction of the deed. */
export function recordReplayDeed(db: Queryable, replayId: number, deed: Deed): Promise<void> {
  return writeDeed(db, SCHEMA, { ...deed, targetId: String(replayId) });
}

/** The same, as a row for a store that writes it with the deed. */
export function replayDeedRow(replayId: number, deed: Deed): DeedRow {
  return deedRow({ ...deed, targetId: String(replayId) });
}

const EDITED_FIELDS = ["url", "events", "description"] as const;

/** What an edit did, each with the fields that it changed; nothing when it changed nothing. */
export function deedsBetween(before: EndpointRow, after: EndpointRow): Pick<Deed, "action" | "fields">[] {
  const fields = EDITED_FIELDS.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  const deeds: Pick<Deed, "action" | "fields">[] = [];
  if (fields.length > 0) deeds.push({ action: "endpoint.edit", fields });
  if (before.active !== after.active) {
    deeds.push({ action: after.active ? "endpoint.activate" : "endpoint.deactivate", fields: ["active"] });
  }
  return deeds;
}
