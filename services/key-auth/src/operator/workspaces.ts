import { randomUUID } from "node:crypto";
import { inTransaction } from "@toolgate/postgres/pool";
import { insertAuditEntry } from "../store/audit.ts";
import { insertWorkspace, listWorkspaces, lockWorkspaceRow, setLocked } from "../store/workspaces.ts";
import { OPERATOR } from "./actor.ts";
import type { OperatorDependencies } from "./dependencies.ts";
import { OperatorError } from "./operator-error.ts";

const CODE = /^[a-z0-9][a-z0-9-]{0,62}$/;

export async function listWorkspaceLines({ pool }: OperatorDependencies): Promise<string> {
  const workspaces = await listWorkspaces(pool);
  return workspaces.map(({ code, locked }) => (locked ? `${code} (locked)` : code)).join("\n");
}

export async function createWorkspace({ pool, now }: OperatorDependencies, code: string): Promise<string> {
  if (!CODE.test(code)) throw new OperatorError("a code has 1 to 63 of a-z, 0-9 and -, and starts with none of -");
  await inTransaction(pool, async (client) => {
    const made = await insertWorkspace(client, randomUUID(), code);
    if (!made) throw new OperatorError(`there is a workspace ${code} already`);
    await insertAuditEntry(client, {
      id: randomUUID(),
      workspaceId: made.id,
      at: now(),
      actor: OPERATOR,
      action: "workspace.create",
      targetId: made.id,
      target: code,
    });
  });
  return `workspace ${code} created`;
}

/** [ERR-12] Once this has answered, the next call of the workspace is refused, or let through again, everywhere. */
export async function lockWorkspace(
  { pool, epochs, now }: OperatorDependencies,
  code: string,
  locked: boolean,
): Promise<string> {
  const id = await inTransaction(pool, async (client) => {
    const workspace = await lockWorkspaceRow(client, code);
    if (!workspace) throw new OperatorError(`there is no workspace ${code}`);
    if (workspace.locked === locked) return workspace.id;
    await setLocked(client, workspace.id, locked);
    await insertAuditEntry(client, {
      id: randomUUID(),
      workspaceId: workspace.id,
      at: now(),
      actor: OPERATOR,
      action: locked ? "workspace.lock" : "workspace.unlock",
      targetId: workspace.id,
      target: code,
      changes: [{ field: "locked", before: workspace.locked, after: locked }],
    });
    return workspace.id;
  });
  const done = locked ? "locked" : "unlocked";
  await epochs.raise(`workspace:${id}`).catch(() => {
    throw new OperatorError(`${code} is ${done}, but Redis did not confirm it: repeat the command`);
  });
  return `workspace ${code} ${done}`;
}
