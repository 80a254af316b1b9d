import type { Queryable } from "@toolgate/postgres/pool";

/** A call of a hook that got an error. */
export interface RefusedCall {
  hookId: number;
  refusedAt: Date;
  /** Of the response. */
  status: number;
  /** One sentence, for the hook's owner. */
  reason: string;
  /** How far the time of the signature was from ours, in seconds; negative: in the past. */
  secondsOff: number | undefined;
  requestId: string;
}

const KEPT_PER_HOOK = 100;
const KEPT_MS = 86_400_000;

/** Stores refused calls; of each hook, the newest 100 are kept. */
export async function addRefusedCalls(db: Queryable, calls: readonly RefusedCall[]): Promise<void> {
  await db.query(
    `insert into inbound_hook.refused_call (hook_id, refused_at, status, reason, seconds_off, request_id)
     select * from json_to_recordset($1::json) as given ("hookId" bigint, "refusedAt" timestamptz, status smallint, reason text,
       "secondsOff" integer, "requestId" text)`,
    [JSON.stringify(calls)],
  );
  await db.query(
    `delete from inbound_hook.refused_call r using unnest($1::bigint[]) as of (hook_id)
     where r.hook_id = of.hook_id and r.id <= (
       select id from inbound_hook.refused_call where hook_id = of.hook_id order by id desc limit 1 offset $2)`,
    [[...new Set(calls.map(({ hookId }) => hookId))], KEPT_PER_HOOK],
  );
}

/** Of one hook of a workspace, or of all, newest first; `requestId` "": all. */
export async function listRefusedCalls(
  db: Queryable,
  { workspaceId, hookId, requestId }: { workspaceId: string; hookId: number | undefined; requestId: string },
): Promise<(RefusedCall & { hookName: string })[]> {
  const { rows } = await db.query(
    `select r.hook_id as "hookId", h.name as "hookName", r.refused_at as "refusedAt", r.status, r.reason,
       r.seconds_off as "secondsOff", r.request_id as "requestId"
     from inbound_hook.hook h join inbound_hook.refused_call r on r.hook_id = h.id
     where h.workspace_id = $1 and ($2::bigint is null or h.id = $2) and ($3 = '' or r.request_id = $3)
     order by r.id desc limit $4`,
    [workspaceId, hookId ?? null, requestId, KEPT_PER_HOOK],
  );
  return rows;
}

export async function deleteOldRefusedCalls(db: Queryable, now: Date): Promise<void> {
  await db.query("delete from inbound_hook.refused_call where refused_at < $1", [new Date(now.getTime() - KEPT_MS)]);
}
