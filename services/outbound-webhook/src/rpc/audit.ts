import { writeAuditEntry } from "@toolgate/audit-trail/write";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Principal } from "@toolgate/service-host/principal";
import type { EndpointRow } from "../store/endpoint.ts";
import { SCHEMA } from "../store/queue.ts";

interface Action {
  principal: Principal;
  at: Date;
  action:
    | "endpoint.create"
    | "endpoint.edit"
    | "endpoint.activate"
    | "endpoint.deactivate"
    | "endpoint.rotate"
    | "endpoint.delete"
    | "replay.start"
    | "replay.cancel";
  fields?: readonly string[];
}

/**
 * Audits an action on an endpoint, in the same transaction. Only the URL's host is recorded: its path may contain a
 * secret.
 */
export function auditEndpoint(db: Queryable, endpoint: Pick<EndpointRow, "id" | "url">, action: Action): Promise<void> {
  return writeAuditEntry(db, SCHEMA, { ...action, targetId: String(endpoint.id), target: new URL(endpoint.url).host });
}

/** Audits an action on a replay, in the same transaction. */
export function auditReplay(db: Queryable, replayId: number, action: Action): Promise<void> {
  return writeAuditEntry(db, SCHEMA, { ...action, targetId: String(replayId) });
}
