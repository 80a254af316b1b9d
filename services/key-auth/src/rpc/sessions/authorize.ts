import { Code, ConnectError } from "@connectrpc/connect";
import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { ROLE, sessionOf } from "./session.ts";

export const authorize: Handler<Context, typeof SessionService.method.authorize> = async (
  context,
  { token, workspace },
) => {
  const { userId, email, workspaceId, role, locked } = await sessionOf(context, token, workspace);
  if (!workspaceId || !role) throw new ConnectError("no such workspace", Code.NotFound);
  const principal = await context.principals.textOf({ userId, email, workspaceId, workspace, role });
  return { userId, email, workspaceId, workspace, role: ROLE[role], workspaceLocked: locked ?? true, principal };
};
