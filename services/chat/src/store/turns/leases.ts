import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import type { Pool } from "@toolgate/postgres/pool";
import { LOCK_TIMEOUT_MS, type TurnQueue } from "../queue.ts";

/** Another worker may take over a turn when its lease has not been renewed for this long. */
export const LEASE_MS = 10_000;

export interface HeldTurn {
  id: string;
  workspaceId: string;
  token: string;
}

const MAX_EXPIRED = 200;

const RENEW = `with held as (
  select t.id from unnest($1::uuid[], $2::uuid[]) as h (id, token) join chat.turn t on t.id = h.id
  where t.lease_token = h.token and t.status = 'running' order by t.id for no key update of t
)
update chat.turn t set lease_until = $3 from held where t.id = held.id
returning t.id, t.stop_requested as "stopRequested"`;

/** Renews the leases. Returns the turns that are still held; another worker has the others, or they have ended. */
export async function renewLeases(
  pool: Pool,
  turns: readonly HeldTurn[],
  now: Date,
): Promise<{ id: string; stopRequested: boolean }[]> {
  const values = [turns.map(({ id }) => id), turns.map(({ token }) => token), new Date(now.getTime() + LEASE_MS)];
  const [renewed] = await pipelined(pool, [{ name: "renew_leases", text: RENEW, values }]);
  return renewed?.rows ?? [];
}

/** The turns return to the queue: `chosen` is a CTE (id, attempts) of turns that no worker may write to any more. */
function requeue(queue: TurnQueue, chosen: string): string {
  return `with chosen as (${chosen}),
requeued as (
  update chat.turn t set lease_token = null, lease_until = null, attempts = chosen.attempts
  from chosen where t.id = chosen.id
  returning t.id
),
settled as materialized (
  select q.item_id, q.group_id, q.member_id, true as in_flight, q.attempt as next_attempt, q.due_at as next_due,
    null::boolean as failing, q.due_at as settled_at
  from chosen join ${queue.tables}_item q on q.item_id = chosen.id
  where q.lease_until is not null
),
${settleParts(queue)}
select count(*)::integer as turns from requeued`;
}

const EXPIRED = `select id, attempts from chat.turn
where id = any($2::uuid[]) and status = 'running' and lease_until < $1
order by id for no key update skip locked`;

const RELEASED = `select id, attempts - 1 as attempts from chat.turn
where id = $1 and lease_token = $2 and status = 'running' for no key update`;

const FIND_EXPIRED = `select id, workspace_id as "workspaceId" from chat.turn
where status = 'running' and lane = $2 and lease_until < $1 order by lease_until limit ${MAX_EXPIRED}`;

/** Lets other workers claim the turns with expired leases, except those of locked queues. Resolves with how many. */
export async function expireLeases(pool: Pool, queue: TurnQueue, now: Date): Promise<number> {
  const { lane, tables } = queue;
  const { rows } = await pool.query({ name: "find_expired_turns", text: FIND_EXPIRED, values: [now, lane] });
  const workspaceOf = (turn: Pick<HeldTurn, "id" | "workspaceId">) => turn.workspaceId;
  let expired = 0;
  await inUnlockedGroups(rows, workspaceOf, async (some, lockTimeoutMs) => {
    const values = [now, some.map(({ id }) => id)];
    const expire = { name: `expire_${lane}_turns`, text: requeue(queue, EXPIRED), values };
    const results = await pipelined(pool, [lockGroups(tables, some.map(workspaceOf)), expire], { lockTimeoutMs });
    expired += results.at(-1)?.rows[0].turns ?? 0;
  });
  return expired;
}

/** Hands over a turn that this worker holds; this does not count as an attempt. */
export async function releaseTurn(pool: Pool, queue: TurnQueue, { id, token, workspaceId }: HeldTurn): Promise<void> {
  const release = { name: `release_${queue.lane}_turn`, text: requeue(queue, RELEASED), values: [id, token] };
  await pipelined(pool, [lockGroups(queue.tables, [workspaceId]), release], { lockTimeoutMs: LOCK_TIMEOUT_MS });
}
