import { randomUUID } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import type { DeliveryStatus } from "../../src/domain/log/delivery-filter.ts";

/** A delivery as a test puts it into the log. */
export interface MadeDelivery {
  id: string;
  at: Date;
  hook: number;
  externalId: string | null;
  requestId: string;
  status: DeliveryStatus;
}

/** Inserts a hook with this id, whose URL is unknown. */
export async function insertHookRow(pool: Pool, workspaceId: string, id: number): Promise<void> {
  await pool.query(
    `insert into inbound_hook.hook (id, workspace_id, workspace, name, url_hash, shown_url, format, target_kind,
       target_name, args_from, call_limit, tolerance_seconds, secret, created_at)
     values ($1, $2, 'w', 'Hook ' || $1::bigint, sha256($3), 'hk_', 'native', 'tool', 'echo', 'fields', 60, 300, '', now())`,
    [id, workspaceId, Buffer.from(randomUUID())],
  );
}

/** Inserts deliveries, and queues the waiting and running ones, alternating between the lanes. */
export async function insertDeliveries(pool: Pool, workspaceId: string, rows: readonly MadeDelivery[]): Promise<void> {
  const column = <K extends keyof MadeDelivery>(name: K) => rows.map((row) => row[name]);
  await pool.query(
    `insert into inbound_hook.delivery
       (created_at, id, workspace_id, hook_id, external_id, request_id, status, body, content_type, headers)
     select at, id, $1, hook, external_id, request_id, status, '{}', 'application/json', '{}'
     from unnest($2::timestamptz[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[])
       as given (at, id, hook, external_id, request_id, status)`,
    [
      workspaceId,
      column("at"),
      column("id"),
      column("hook"),
      column("externalId"),
      column("requestId"),
      column("status"),
    ],
  );
  for (const [parity, lane] of [
    [0, "tool"],
    [1, "assistant"],
  ]) {
    await pool.query(
      `insert into inbound_hook.${lane}_queue_item (item_id, group_id, member_id, created_at, due_at, lease_until)
       select id, $1, hook, at, '2100-01-01', case when status = 'running' then '2100-01-01'::timestamptz end
       from unnest($2::timestamptz[], $3::uuid[], $4::bigint[], $5::text[]) with ordinality
         as given (at, id, hook, status, n)
       where status in ('waiting', 'running') and n % 2 = $6`,
      [workspaceId, column("at"), column("id"), column("hook"), column("status"), parity],
    );
  }
}
