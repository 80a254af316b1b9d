import type { Client, Queryable } from "@toolgate/postgres/pool";

/** A workspace's settings. */
export interface ChatSettingsRow {
  /** Null: the built-in one. */
  defaultAssistant: string | null;
  /** 0: no limit. */
  tokensPerDay: number;
  allowedOrigins: string[];
}

const COLUMNS =
  'default_assistant as "defaultAssistant", tokens_per_day as "tokensPerDay", allowed_origins as "allowedOrigins"';
const UNSET: ChatSettingsRow = { defaultAssistant: null, tokensPerDay: 0, allowedOrigins: [] };

export async function readSettings(db: Queryable, workspaceId: string): Promise<ChatSettingsRow> {
  const { rows } = await db.query(`select ${COLUMNS} from chat.settings where workspace_id = $1`, [workspaceId]);
  return rows[0] ?? UNSET;
}

/** Until the transaction ends, no other one can change the workspace's assistants, models or settings. */
export async function lockSettings(client: Client, workspaceId: string): Promise<ChatSettingsRow> {
  await client.query("insert into chat.settings (workspace_id) values ($1) on conflict do nothing", [workspaceId]);
  const select = `select ${COLUMNS} from chat.settings where workspace_id = $1 for update`;
  return (await client.query(select, [workspaceId])).rows[0];
}

/** The settings must be locked. */
export async function saveSettings(client: Client, workspaceId: string, settings: ChatSettingsRow): Promise<void> {
  const { defaultAssistant, tokensPerDay, allowedOrigins } = settings;
  await client.query(
    `update chat.settings set default_assistant = $2, tokens_per_day = $3, allowed_origins = $4
     where workspace_id = $1`,
    [workspaceId, defaultAssistant, tokensPerDay, allowedOrigins],
  );
}

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
