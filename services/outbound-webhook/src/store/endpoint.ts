import { lockGroups, makeAndLockGroups } from "@toolgate/postgres/fair-queue/lock";
import type { Queryable } from "@toolgate/postgres/pool";
import { QUEUE_TABLES } from "./queue.ts";

export interface EndpointRow {
  id: number;
  url: string;
  events: string[];
  description: string;
  active: boolean;
  failuresInARow: number;
  createdAt: Date;
  deactivatedAt: Date | null;
  /** Empty: all. */
  tools: string[];
  headerNames: string[];
  version: number;
  savedBy: string;
  savedAt: Date;
}

export type EndpointStatusName = "active" | "failing" | "deactivated";

/** Custom headers as they are stored; null when there are none. */
export interface SealedHeaders {
  sealed: Buffer | null;
  names: string[];
}

/** What its managers choose. */
interface EndpointValues {
  url: string;
  events: string[];
  description: string;
  tools: string[];
  headers: SealedHeaders;
}

/** Finds an endpoint only in its own workspace. */
export interface EndpointKey {
  workspaceId: string;
  endpointId: number;
}

const COLUMNS = `id, url, events, description, active, failures_in_a_row as "failuresInARow",
  created_at as "createdAt", deactivated_at as "deactivatedAt", tools, header_names as "headerNames",
  version, saved_by as "savedBy", coalesce(saved_at, created_at) as "savedAt"`;

const STATUS_CONDITIONS: Record<EndpointStatusName, string> = {
  active: "active and failures_in_a_row = 0",
  failing: "active and failures_in_a_row > 0",
  deactivated: "not active",
};

/** Takes the lock under which endpoints and deliveries change. Has to come first in a transaction. */
export async function lockWorkspace(db: Queryable, workspaceId: string): Promise<void> {
  await db.query(lockGroups(QUEUE_TABLES, [workspaceId]));
}

/** Like `lockWorkspace`, for a workspace that may have no endpoint yet. */
export async function makeAndLockWorkspace(db: Queryable, workspaceId: string): Promise<void> {
  for (const statement of makeAndLockGroups(QUEUE_TABLES, [workspaceId])) await db.query(statement);
}

export async function countEndpoints(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query(
    "select count(*)::integer as count from outbound_webhook.endpoint where workspace_id = $1 and deleted_at is null",
    [workspaceId],
  );
  return rows[0].count;
}

export async function insertEndpoint(
  db: Queryable,
  endpoint: EndpointValues & {
    id: number;
    workspaceId: string;
    workspace: string;
    secret: Buffer;
    createdAt: Date;
    createdBy: string;
  },
): Promise<EndpointRow> {
  const { id, workspaceId, workspace, url, events, description, secret, createdAt, createdBy, tools } = endpoint;
  const { rows } = await db.query(
    `insert into outbound_webhook.endpoint
       (id, workspace_id, workspace, url, events, description, secret, created_at, saved_at, saved_by, tools,
        sealed_headers, header_names)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12)
     returning ${COLUMNS}`,
    [
      ...[id, workspaceId, workspace, url, events, description, secret, createdAt, createdBy, tools],
      ...[endpoint.headers.sealed, endpoint.headers.names],
    ],
  );
  return rows[0];
}

/** `search`: part of the URL or description; case does not matter. */
export async function listEndpoints(
  db: Queryable,
  workspaceId: string,
  { search, status }: { search: string; status: EndpointStatusName | undefined },
): Promise<EndpointRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from outbound_webhook.endpoint
     where workspace_id = $1 and deleted_at is null
       and (position(lower($2) in lower(url)) > 0 or position(lower($2) in lower(description)) > 0)
       and ${status ? STATUS_CONDITIONS[status] : "true"}
     order by created_at, id`,
    [workspaceId, search],
  );
  return rows;
}

export async function findEndpoint(db: Queryable, key: EndpointKey): Promise<EndpointRow | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from outbound_webhook.endpoint where workspace_id = $1 and id = $2 and deleted_at is null`,
    [key.workspaceId, key.endpointId],
  );
  return rows[0];
}

/** Changes only the fields that are given, and raises the version. Activation resets the failure counter. [OUT-50] */
export async function updateEndpoint(
  db: Queryable,
  key: EndpointKey,
  change: { [Value in keyof EndpointValues]: EndpointValues[Value] | undefined } & {
    active: boolean | undefined;
    now: Date;
    savedBy: string;
  },
): Promise<EndpointRow | undefined> {
  const { rows } = await db.query(
    `update outbound_webhook.endpoint set
       url = coalesce($3, url),
       events = coalesce($4, events),
       description = coalesce($5, description),
       failures_in_a_row = case when $6 and not active then 0 else failures_in_a_row end,
       deactivated_at = case when $6 then null when not $6 and active then $7 else deactivated_at end,
       cancel_until = case when not $6 and active then $7 else cancel_until end,
       active = coalesce($6, active),
       tools = coalesce($8, tools),
       sealed_headers = case when $10::text[] is null then sealed_headers else $9::bytea end,
       header_names = coalesce($10, header_names),
       version = version + 1,
       saved_by = $11,
       saved_at = $7
     where workspace_id = $1 and id = $2 and deleted_at is null
     returning ${COLUMNS}`,
    [
      key.workspaceId,
      key.endpointId,
      change.url ?? null,
      change.events ?? null,
      change.description ?? null,
      change.active ?? null,
      change.now,
      change.tools ?? null,
      change.headers?.sealed ?? null,
      change.headers?.names ?? null,
      change.savedBy,
    ],
  );
  return rows[0];
}

/**
 * Keeps the row as long as something refers to it, without the secret and what the endpoint got. Returns false when there
 * is no such endpoint.
 */
export async function deleteEndpoint(db: Queryable, key: EndpointKey, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update outbound_webhook.endpoint
     set deleted_at = $3, cancel_until = $3, active = false, notice_due_at = null,
       secret = '', sealed_headers = null, header_names = '{}', events = '{}', tools = '{}', description = ''
     where workspace_id = $1 and id = $2 and deleted_at is null`,
    [key.workspaceId, key.endpointId, now],
  );
  return rowCount === 1;
}

/** The sealed secret of an endpoint, and when it replaced the one before. */
export async function findSecret(
  db: Queryable,
  key: EndpointKey,
): Promise<{ secret: Buffer; replacedAt: Date | null } | undefined> {
  const { rows } = await db.query(
    `select secret, secret_replaced_at as "replacedAt" from outbound_webhook.endpoint
     where workspace_id = $1 and id = $2 and deleted_at is null`,
    [key.workspaceId, key.endpointId],
  );
  return rows[0];
}

/** Returns false when there is no such endpoint. */
export async function replaceSecret(db: Queryable, key: EndpointKey, secret: Buffer, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update outbound_webhook.endpoint set secret = $3, secret_replaced_at = $4
     where workspace_id = $1 and id = $2 and deleted_at is null`,
    [key.workspaceId, key.endpointId, secret, now],
  );
  return rowCount === 1;
}
