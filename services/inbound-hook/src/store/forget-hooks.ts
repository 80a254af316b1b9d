import { forgetParts } from "@toolgate/postgres/fair-queue/cancel";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { LANES, SCHEMA } from "./queue.ts";

/** Few, because claims skip these workspaces for the length of a transaction. */
const WORKSPACES_PER_TRANSACTION = 50;

/**
 * Makes the queues forget deleted hooks, except those that still have deliveries or whose workspaces are locked. Every claim
 * reads all members of a workspace, so they must not accumulate.
 */
export async function forgetDeletedHooks(pool: Pool): Promise<void> {
  for (const lane of LANES) {
    const tables = `${SCHEMA}.${lane}_queue`;
    const text = `with gone as (${deletedMembers(tables)} and m.group_id = any($1)), ${forgetParts(tables)} select`;
    const { rows } = await pool.query(`select distinct group_id from (${deletedMembers(tables)}) found`);
    for (let at = 0; at < rows.length; at += WORKSPACES_PER_TRANSACTION)
      await inUnlockedGroups(rows.slice(at, at + WORKSPACES_PER_TRANSACTION), groupOf, (some, lockTimeoutMs) =>
        inTransaction(pool, async (db) => {
          await db.query(`set local lock_timeout = ${lockTimeoutMs}`);
          await db.query(lockGroups(tables, some.map(groupOf)));
          await db.query(text, [some.map(groupOf)]);
        }),
      );
  }
}

const groupOf = (row: { group_id: string }) => row.group_id;

/** Retention deletes the rows of hooks that were deleted long ago. */
const deletedMembers = (tables: string) => `select m.group_id, m.member_id
  from ${tables}_member m left join ${SCHEMA}.hook h on h.id = m.member_id
  where (h.id is null or h.deleted_at is not null)`;
