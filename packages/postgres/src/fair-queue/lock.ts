import type { Statement } from "./pipeline.ts";

/** An SQL condition on a group's id: a statement before this one has locked the group, in the same transaction. */
export const IN_LOCKED = "= any (current_setting('fair_queue.groups')::text[])";
/** A transaction setting passes the groups on, because no statement can wait for the rows of another one. */
const NOTE_GROUPS = "set_config('fair_queue.groups', coalesce(array_agg(group_id), '{}')::text, true)";

/**
 * Locks the rows of these groups, always in the same order, so that transactions with several groups never deadlock.
 * Must come first in every transaction that adds, settles or cancels.
 */
export function lockGroups(tables: string, groupIds: readonly string[]): Statement {
  return {
    name: `${tables}_lock`,
    text: `select ${NOTE_GROUPS} from (
  select group_id from ${tables}_group where group_id = any($1::text[]) order by group_id for update
) locked`,
    values: [groupIds],
  };
}

/** As `lockGroups`, for groups that may have no row yet, which the first of the two statements inserts. */
export function makeAndLockGroups(tables: string, groupIds: readonly string[]): [Statement, Statement] {
  const make = {
    name: `${tables}_make_groups`,
    text: `insert into ${tables}_group (group_id)
select id collate "C" from unnest($1::text[]) as ids (id)
where not exists (select from ${tables}_group g where g.group_id = id)
group by 1 order by 1
on conflict do nothing`,
    values: [groupIds],
  };
  return [make, lockGroups(tables, groupIds)];
}

/**
 * Locks due groups that nobody else has locked, those waiting longest first, for the claim that follows. Returns the number
 * of `groups`; if that is `maxGroups`, there may be more. The commit does not wait for the disk (but see `unlockEarly`): a
 * crash of the database may undo its last claims, whose items are then claimed a second time.
 */
export function lockDueGroups(tables: string, now: Date, maxGroups: number): Statement {
  return {
    name: `${tables}_lock_due`,
    text: `select set_config('synchronous_commit', 'off', true), ${NOTE_GROUPS}, count(*)::integer as groups from (
  select group_id from ${tables}_group where ready_at <= $1 order by ready_at limit $2 for update skip locked
) due`,
    values: [now, maxGroups],
  };
}
