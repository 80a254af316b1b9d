import type { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { listAdminEmails as listEmails } from "../../store/memberships.ts";

export const listAdminEmails: Handler<Context, typeof WorkspaceService.method.listAdminEmails> = async (
  context,
  request,
) => {
  return { emails: await listEmails(context.pool, request.workspaceId) };
};
