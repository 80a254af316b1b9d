import { createClient, type Transport } from "@connectrpc/connect";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";

export type ListAdminEmails = (workspaceId: string) => Promise<string[]>;

/** Asks key-auth for the addresses of a workspace's admins. */
export function createListAdminEmails(keyAuth: Transport): ListAdminEmails {
  const client = createClient(WorkspaceService, keyAuth);
  return async (workspaceId) => (await client.listAdminEmails({ workspaceId })).emails;
}
