import type { Statement } from "./pipeline.ts";
import { assertSchemaName } from "./tables.ts";

/**
 * Locks the rows of these groups, always in the same order, so that transactions with several groups never deadlock.
 * Must come first in every transaction that adds, settles or cancels.
 */
export function lockGroups(schema: string, groupIds: readonly string[]): Statement {
  assertSchemaName(schema);
  return {
    name: `${schema}_queue_lock`,
    text: `select group_id from ${schema}.queue_group where group_id = any($1::text[]) order by group_id for update`,
    values: [groupIds],
  };
}

/** As `lockGroups`, for groups that may have no row yet, which the first of the two statements inserts. */
export function makeAndLockGroups(schema: string, groupIds: readonly string[]): [Statement, Statement] {
  assertSchemaName(schema);
  const make = {
    name: `${schema}_queue_make_groups`,
    text: `insert into ${schema}.queue_group (group_id)
select id collate "C" from unnest($1::text[]) as ids (id)
where not exists (select from ${schema}.queue_group g where g.group_id = id)
group by 1 order by 1
on conflict do nothing`,
    values: [groupIds],
  };
  return [make, lockGroups(schema, groupIds)];
}
