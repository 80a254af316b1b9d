import { createClient, type Transport } from "@connectrpc/connect";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";

export type ListAdminEmails = (workspaceId: string) => Promise<string[]>;

/** Gets the addresses of a workspace's admins from key-auth. */
export function createListAdminEmails(keyAuth: Transport): ListAdminEmails {
  const client = createClient(WorkspaceService, keyAuth);
  return async (workspaceId) => (await client.listAdminEmails({ workspaceId })).emails;
}
