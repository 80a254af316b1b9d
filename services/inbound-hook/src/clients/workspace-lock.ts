import { createClient, type Transport } from "@connectrpc/connect";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";

/** [IN-28] Whether a workspace is locked, from key-auth's database. */
export type IsWorkspaceLocked = (workspaceId: string) => Promise<boolean>;

const TIMEOUT_MS = 3_000;

export function createIsWorkspaceLocked(keyAuth: Transport): IsWorkspaceLocked {
  const client = createClient(WorkspaceService, keyAuth);
  return async (workspaceId) => {
    const { locked } = await client.getWorkspaceLock({ workspaceId }, { timeoutMs: TIMEOUT_MS });
    return locked;
  };
}
