import { create } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { ListLockedWorkspacesRequestSchema, WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Peers } from "@toolgate/service-host/rpc/peers";

/** [IN-28] Whether a workspace is locked, from key-auth's database. */
export type IsWorkspaceLocked = (workspaceId: string) => Promise<boolean>;

const TIMEOUT_MS = 3_000;

/** For each run: a hot call, which waits for a key-auth that is away. */
export function lockCheckOfRuns(peers: Pick<Peers, "call">): IsWorkspaceLocked {
  const listLocked = peers.call(WorkspaceService.method.listLockedWorkspaces);
  return async (workspaceId) => {
    const request = create(ListLockedWorkspacesRequestSchema, { workspaceIds: [workspaceId] });
    const { lockedIds } = await listLocked(request, { timeoutMs: TIMEOUT_MS });
    return lockedIds.includes(workspaceId);
  };
}

/** [IN-22] For senders, who wait for a response: fails at once while key-auth is away. */
export function lockCheckOfCalls(keyAuth: Transport): IsWorkspaceLocked {
  const client = createClient(WorkspaceService, keyAuth);
  return async (workspaceId) => {
    const { lockedIds } = await client.listLockedWorkspaces({ workspaceIds: [workspaceId] }, { timeoutMs: TIMEOUT_MS });
    return lockedIds.includes(workspaceId);
  };
}
