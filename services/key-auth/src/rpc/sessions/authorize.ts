import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  type AuthorizeRequest,
  type AuthorizeResponse,
  AuthorizeResponseSchema,
} from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Context } from "../../context.ts";
import { ROLE, sessionOf } from "./session.ts";

export function authorizeHandler(context: Context): CallHandler<AuthorizeRequest, AuthorizeResponse> {
  return async ({ token, workspace }) => {
    const { userId, email, workspaceId, role, locked } = await sessionOf(context, token, workspace);
    if (!workspaceId || !role) throw new ConnectError("no such workspace", Code.NotFound);
    const principal = await context.principalText({ userId, email, workspaceId, workspace, role });
    const workspaceLocked = locked ?? true;
    const user = { userId, email, workspaceId, workspace, role: ROLE[role], workspaceLocked, principal };
    return create(AuthorizeResponseSchema, user);
  };
}
