import { randomUUID } from "node:crypto";
import { inTransaction } from "@toolgate/postgres/pool";
import { insertAuditEntry } from "../store/audit.ts";
import { insertWorkspace, listWorkspaces, lockWorkspaceRow, setLocked } from "../store/workspaces.ts";
import { OPERATOR, type OperatorContext, OperatorError } from "./operator.ts";

const CODE = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** One line each. */
export async function describeWorkspaces({ pool }: OperatorContext): Promise<string> {
  const workspaces = await listWorkspaces(pool);
  return workspaces.map(({ code, locked }) => (locked ? `${code} (locked)` : code)).join("\n");
}

export async function createWorkspace({ pool, now }: OperatorContext, code: string): Promise<string> {
  if (!CODE.test(code)) {
    throw new OperatorError("a code has 1 to 63 characters of a-z, 0-9 and -, and does not start with -");
  }
  await inTransaction(pool, async (client) => {
    const row = await insertWorkspace(client, randomUUID(), code);
    if (!row) throw new OperatorError(`workspace ${code} already exists`);
    await insertAuditEntry(client, {
      workspaceId: row.id,
      at: now(),
      actor: OPERATOR,
      action: "workspace.create",
      targetId: row.id,
      target: code,
    });
  });
  return `workspace ${code} created`;
}

/** [ERR-12] Once this returns, every replica refuses (or accepts again) the workspace's next call. */
export async function lockWorkspace(
  { pool, epochs, now }: OperatorContext,
  code: string,
  locked: boolean,
): Promise<string> {
  const id = await inTransaction(pool, async (client) => {
    const row = await lockWorkspaceRow(client, code);
    if (!row) throw new OperatorError(`there is no workspace ${code}`);
    if (row.locked === locked) return row.id;
    await setLocked(client, row.id, locked);
    await insertAuditEntry(client, {
      workspaceId: row.id,
      at: now(),
      actor: OPERATOR,
      action: locked ? "workspace.lock" : "workspace.unlock",
      targetId: row.id,
      target: code,
      changes: [{ field: "locked", before: row.locked, after: locked }],
    });
    return row.id;
  });
  const done = locked ? "locked" : "unlocked";
  await epochs.raise(`workspace:${id}`).catch(() => {
    throw new OperatorError(`${code} is ${done}, but Redis did not confirm it: repeat the command`);
  });
  return `workspace ${code} ${done}`;
}
