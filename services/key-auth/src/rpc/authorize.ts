import { Code, ConnectError } from "@connectrpc/connect";
import type { AuthorizeRequest } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Context } from "../context.ts";
import { ROLE } from "./membership-message.ts";
import { sessionOf } from "./session-of.ts";

export async function authorize(context: Context, { token, workspace }: AuthorizeRequest) {
  const { userId, email, workspaceId, role } = await sessionOf(context, token, workspace);
  if (!workspaceId || !role) throw new ConnectError("no such workspace", Code.NotFound);
  return { userId, email, workspaceId, workspace, role: ROLE[role] };
}
