import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { testDatabase } from "@toolgate/testbed/test-database";
import type { EndpointKey } from "../../src/store/endpoint.ts";
import { maintainPartitions } from "../../src/store/retention.ts";

/** A database without a service, in which endpoints have backlogs. */
export interface BacklogDatabase extends AsyncDisposable {
  pool: Pool;
  /** For the queue's statements: one connection. */
  queuePool: Pool;
  /** Makes an active endpoint of a workspace of its own. */
  addEndpoint(workspaceId: string): Promise<EndpointKey>;
  /** Makes this many deliveries that are due. */
  addBacklog(key: EndpointKey, count: number, at: Date): Promise<void>;
  /** The statuses of the workspace's deliveries, and how many have each. */
  statuses(workspaceId: string): Promise<Record<string, number>>;
}

export async function startBacklogDatabase(now: Date): Promise<BacklogDatabase> {
  const resources = new AsyncDisposableStack();
  const database = resources.use(await testDatabase());
  const connection = { url: database.url, applicationName: "backlog" };
  const end = (owned: Pool) => owned.end();
  const pool = resources.adopt(createPool({ ...connection, maxConnections: 3 }), end);
  const queuePool = resources.adopt(createPipelinePool({ ...connection, maxConnections: 1 }), end);
  await migrate({ pool, ...migrationsOf("outbound-webhook") });
  await maintainPartitions(pool, now);
  return {
    pool,
    queuePool,
    async addEndpoint(workspaceId) {
      await pool.query("insert into outbound_webhook.queue_group (group_id) values ($1)", [workspaceId]);
      const { rows } = await pool.query(
        `insert into outbound_webhook.endpoint (workspace_id, workspace, url, events, secret, created_at)
         values ($1, 'acme', 'https://a.example/', '{custom.*}', '', $2) returning id`,
        [workspaceId, now],
      );
      return { workspaceId, endpointId: rows[0].id };
    },
    async addBacklog({ workspaceId, endpointId }, count, at) {
      await pool.query(
        `with events as (
           insert into outbound_webhook.event (created_at, id, workspace_id, type, hop, body)
           select $1, 'evt_' || gen_random_uuid(), $2, 'custom.x', 1, '{}' from generate_series(1, $4::int)
           returning created_at, id
         ),
         deliveries as (
           insert into outbound_webhook.delivery
             (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, event_at, kind)
           select $1, outbound_webhook.delivery_id($1), $2, $3, created_at, id, 'custom.x', created_at, 'event' from events
           returning id, created_at
         )
         insert into outbound_webhook.queue_item (item_id, group_id, member_id, created_at, due_at)
         select id, $2, $3, created_at, created_at from deliveries`,
        [at, workspaceId, endpointId, count],
      );
      await pool.query(
        `insert into outbound_webhook.queue_member (group_id, member_id, ready_at) values ($1, $2, $3)
         on conflict do nothing`,
        [workspaceId, endpointId, at],
      );
      await pool.query("update outbound_webhook.queue_group set ready_at = $2 where group_id = $1", [workspaceId, at]);
    },
    async statuses(workspaceId) {
      const { rows } = await pool.query(
        "select status, count(*)::int from outbound_webhook.delivery where workspace_id = $1 group by status",
        [workspaceId],
      );
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
