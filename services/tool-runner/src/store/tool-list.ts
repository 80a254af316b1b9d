import type { Queryable } from "@toolgate/postgres/pool";
import { allRows } from "./rows.ts";
import { COLUMNS_BESIDE, CURRENT, type ToolRow } from "./tools.ts";

/** A tool with its definition as JSON text: a list reads more definitions than it returns. */
export interface ListedTool extends Omit<ToolRow, "definition"> {
  definitionJson: string;
  /** For the cursor: a Date has no microseconds. */
  savedAtText: string;
}

/** Empty texts are not filtered by. */
export interface ToolFilter {
  search: string;
  kind: "handler" | "api" | "query" | undefined;
  /** The name of a flag that is exactly true. */
  flag: string;
}

type After = { name: string; savedAt?: string };

/** After the cursor: by name, or last saved first. */
export function listTools(
  db: Queryable,
  workspaceId: string,
  list: { filter: ToolFilter; summary: boolean; lastSavedFirst: boolean },
  limit: number,
  after: After | undefined,
): Promise<ListedTool[]> {
  const { filter, summary, lastSavedFirst } = list;
  const values: unknown[] = [workspaceId, limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = conditionsOf(filter, parameter);
  if (after && lastSavedFirst) {
    conditions.push(`(v.saved_at, t.name) < (${parameter(after.savedAt)}::timestamptz, ${parameter(after.name)})`);
  } else if (after) conditions.push(`t.name > ${parameter(after.name)}`);
  return allRows(
    db,
    `select ${COLUMNS_BESIDE}, v.saved_at::text as "savedAtText",
       v.${summary ? "summary" : "definition"}::text as "definitionJson"
     from ${CURRENT}
     where ${["t.workspace_id = $1", "t.deleted_at is null", ...conditions].join(" and ")}
     order by ${lastSavedFirst ? "v.saved_at desc, t.name desc" : "t.name"} limit $2`,
    values,
  );
}

function conditionsOf({ search, kind, flag }: ToolFilter, parameter: (value: unknown) => string): string[] {
  const conditions: string[] = [];
  if (search !== "") {
    const part = `lower(${parameter(search)})`;
    conditions.push(`(strpos(lower(t.name), ${part}) > 0 or strpos(lower(v.summary ->> 'description'), ${part}) > 0)`);
  }
  if (kind !== undefined) conditions.push(`v.kind = ${parameter(kind)}`);
  if (flag !== "") conditions.push(`v.summary -> ${parameter(flag)}::text = 'true'::jsonb`);
  return conditions;
}
