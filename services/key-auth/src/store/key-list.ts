import type { Queryable } from "@toolgate/postgres/pool";
import type { KeyStatus } from "../domain/key.ts";
import { KEY_COLUMNS, type KeyRow } from "./keys.ts";

export type KeyOrder = "newest" | "name" | "last_used" | "calls_total" | "expiry";

interface KeyFilter {
  status: KeyStatus | undefined;
  /** Part of the name or prefix; case does not matter. */
  search: string;
  /** Only keys that list this tool. */
  tool: string;
  /** Only keys that list any of these tools, when set. */
  anyOfTools: readonly string[] | undefined;
}

/** A key's position in an order: the value it is sorted by, as text, and its id. */
export type KeyCursor = { order: string; value: string; id: string };

/** Row comparisons cannot handle null, so a key that was never used sorts like one used before all others, and one without expiry last. */
const ORDERS: Record<KeyOrder, { sortedBy: string; type: string; direction: "asc" | "desc" }> = {
  newest: { sortedBy: "created_at", type: "timestamptz", direction: "desc" },
  name: { sortedBy: `(lower(name) collate "C")`, type: "text", direction: "asc" },
  last_used: { sortedBy: "coalesce(last_used_at, '-infinity')", type: "timestamptz", direction: "desc" },
  expiry: { sortedBy: "coalesce(expires_at, 'infinity')", type: "timestamptz", direction: "asc" },
  calls_total: { sortedBy: "calls_total", type: "bigint", direction: "desc" },
};

type ListedKey = KeyRow & { cursor: KeyCursor };

/** A page of a workspace's keys after the cursor. The id breaks ties, so that each key appears once. */
export async function listKeys(
  db: Queryable,
  page: {
    workspaceId: string;
    order: KeyOrder;
    filter: KeyFilter;
    limit: number;
    after: KeyCursor | undefined;
    now: Date;
  },
): Promise<ListedKey[]> {
  const { sortedBy, type, direction } = ORDERS[page.order];
  const values: unknown[] = [page.workspaceId, page.limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = filterConditions(page.filter, page.now, parameter);
  if (page.after) {
    const position = `(${parameter(page.after.value)}::${type}, ${parameter(page.after.id)}::uuid)`;
    conditions.push(`(${sortedBy}, id) ${direction === "asc" ? ">" : "<"} ${position}`);
  }
  const listed = await db.query(
    `select ${KEY_COLUMNS}, ${sortedBy}::text as "sortedBy"
     from key_auth.keys
     where ${["workspace_id = $1", ...conditions].join(" and ")}
     order by ${sortedBy} ${direction}, id ${direction}
     limit $2`,
    values,
  );
  return listed.rows.map(({ sortedBy: value, ...row }) => ({
    ...row,
    cursor: { order: page.order, value, id: row.id },
  }));
}

/** Conditions consist of literals from this file; values only enter as parameters. */
function filterConditions(
  { status, search, tool, anyOfTools }: KeyFilter,
  now: Date,
  parameter: (value: unknown) => string,
): string[] {
  const conditions: string[] = [];
  if (status === "revoked") conditions.push("revoked_at is not null");
  if (status === "expired") conditions.push(`revoked_at is null and expires_at <= ${parameter(now)}`);
  if (status === "active") {
    conditions.push(`revoked_at is null and (expires_at is null or expires_at > ${parameter(now)})`);
  }
  if (search !== "") {
    const part = `lower(${parameter(search)})`;
    conditions.push(`(position(${part} in lower(name)) > 0 or position(${part} in lower(prefix)) > 0)`);
  }
  if (tool !== "") conditions.push(`tools @> array[${parameter(tool)}::text]`);
  if (anyOfTools) conditions.push(`tools && ${parameter(anyOfTools)}::text[]`);
  return conditions;
}

/** Every tool that a key of the workspace lists. */
export async function toolsOfKeys(db: Queryable, workspaceId: string): Promise<string[]> {
  const listed = await db.query(
    "select distinct unnest(tools) as tool from key_auth.keys where workspace_id = $1 and tools <> '{}'",
    [workspaceId],
  );
  return listed.rows.map(({ tool }) => tool);
}
