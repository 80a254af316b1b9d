import type { Client, Queryable } from "@toolgate/postgres/pool";
import { firstRow } from "./rows.ts";
import { CURRENT } from "./tools.ts";

export interface ProposalRow {
  id: string;
  tool: string;
  baseVersion: number;
  before: unknown;
  after: unknown;
  expiresAt: Date;
  savedVersion: number | null;
  /** The change that was proposed is still the one that confirming it would make. */
  isSameChange: boolean;
}

export interface NewProposal {
  id: string;
  workspaceId: string;
  userId: string;
  chatId: string;
  tool: string;
  baseVersion: number;
  after: unknown;
  createdAt: Date;
  expiresAt: Date;
}

/** Open proposals of a chat at the same time. */
export const MAX_OPEN = 20;

/** The text of a jsonb value does not depend on the order of its members. */
const hashOf = (after: string) =>
  `sha256(convert_to(jsonb_build_array(t.name, t.version, v.definition, ${after})::text, 'UTF8'))`;

/** `b` is the version that the proposal changes, `t` and `v` the tool as it is now. */
const FOUND = `select p.id, p.tool, p.base_version as "baseVersion", b.definition as before, p.definition as after,
  p.expires_at as "expiresAt", p.saved_version as "savedVersion",
  coalesce(p.change_hash = ${hashOf("p.definition")}, false) as "isSameChange"
from tool_runner.proposals p
join tool_runner.tool_versions b on b.workspace_id = p.workspace_id and b.name = p.tool and b.version = p.base_version
left join tool_runner.tools t on t.workspace_id = p.workspace_id and t.name = p.tool and t.deleted_at is null
left join tool_runner.tool_versions v on v.workspace_id = t.workspace_id and v.name = t.name and v.version = t.version`;

/** False when the tool has changed meanwhile, or the chat has too many open proposals. */
export async function insertProposal(db: Queryable, proposal: NewProposal): Promise<boolean> {
  const { id, workspaceId, userId, chatId, tool, baseVersion, after, createdAt, expiresAt } = proposal;
  const { rowCount } = await db.query(
    `insert into tool_runner.proposals (id, workspace_id, user_id, chat_id, tool, base_version, definition, change_hash,
       created_at, expires_at)
     select $1, $2, $3, $4, t.name, t.version, $7::jsonb, ${hashOf("$7::jsonb")}, $8, $9
     from ${CURRENT}
     where t.workspace_id = $2 and t.name = $5 and t.version = $6 and t.deleted_at is null and (
       select count(*) from tool_runner.proposals p
       where p.workspace_id = $2 and p.chat_id = $4 and p.saved_version is null and p.expires_at > $8
     ) < ${MAX_OPEN}`,
    [id, workspaceId, userId, chatId, tool, baseVersion, JSON.stringify(after), createdAt, expiresAt],
  );
  return rowCount === 1;
}

type Owner = { workspaceId: string; userId: string };

const ONE = `${FOUND} where p.id = $1 and p.workspace_id = $2 and p.user_id = $3`;

export function findProposal(db: Queryable, { workspaceId, userId }: Owner, id: string) {
  return firstRow<ProposalRow>(db, ONE, [id, workspaceId, userId]);
}

/** So that it is confirmed once. */
export function lockProposal(client: Client, { workspaceId, userId }: Owner, id: string) {
  return firstRow<ProposalRow>(client, `${ONE} for update of p`, [id, workspaceId, userId]);
}

/** The newest of a chat. */
export function findLastProposal(
  db: Queryable,
  { workspaceId, userId }: Owner,
  chatId: string,
): Promise<ProposalRow | undefined> {
  return firstRow(
    db,
    `${FOUND} where p.workspace_id = $1 and p.user_id = $2 and p.chat_id = $3 order by p.created_at desc limit 1`,
    [workspaceId, userId, chatId],
  );
}

export async function markConfirmed(client: Client, id: string, savedVersion: number): Promise<void> {
  await client.query("update tool_runner.proposals set saved_version = $2 where id = $1", [id, savedVersion]);
}

export async function deleteProposalsBefore(db: Queryable, time: Date): Promise<void> {
  await db.query("delete from tool_runner.proposals where created_at < $1", [time]);
}
