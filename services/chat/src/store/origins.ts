import type { Queryable } from "@toolgate/postgres/pool";

/** Whether a workspace, or with "" any workspace, allows pages of an origin to call its chat API. */
export async function isOriginAllowed(db: Queryable, origin: string, workspaceId: string): Promise<boolean> {
  const { rows } = await db.query({
    name: "is_origin_allowed",
    text: `select exists (
  select from chat.settings where allowed_origins @> array[$1::text] and ($2 = '' or workspace_id = $2)
) as allowed`,
    values: [origin, workspaceId],
  });
  return rows[0].allowed;
}
