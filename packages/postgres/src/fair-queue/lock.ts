import type { Statement } from "./pipeline.ts";
import { assertTablesName } from "./tables.ts";

/**
 * Locks the rows of these groups, always in the same order, so that transactions with several groups never deadlock.
 * Must come first in every transaction that adds, settles or cancels.
 */
export function lockGroups(tables: string, groupIds: readonly string[]): Statement {
  assertTablesName(tables);
  return {
    name: `${tables}_lock`,
    text: `select group_id from ${tables}_group where group_id = any($1::text[]) order by group_id for update`,
    values: [groupIds],
  };
}

/** As `lockGroups`, for groups that may have no row yet, which the first of the two statements inserts. */
export function makeAndLockGroups(tables: string, groupIds: readonly string[]): [Statement, Statement] {
  assertTablesName(tables);
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
