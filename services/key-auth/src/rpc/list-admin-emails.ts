import type { ListAdminEmailsRequest } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Context } from "../context.ts";
import { listAdminEmails as listEmails } from "../store/users.ts";

export async function listAdminEmails(context: Context, request: ListAdminEmailsRequest) {
  return { emails: await listEmails(context.pool, request.workspaceId) };
}
