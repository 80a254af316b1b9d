import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  type ListLockedWorkspacesRequest,
  type ListLockedWorkspacesResponse,
  ListLockedWorkspacesResponseSchema,
} from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Context } from "../../context.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { listUnlocked } from "../../store/workspaces.ts";

const MAX_IDS = 500;

/** [IN-28] Always reads the database, so the response is newer than any epoch that the caller may know. */
export function listLockedWorkspacesHandler({
  pool,
}: Context): CallHandler<ListLockedWorkspacesRequest, ListLockedWorkspacesResponse> {
  return async ({ workspaceIds }) => {
    if (workspaceIds.length > MAX_IDS) throw new ConnectError(`at most ${MAX_IDS} workspaces`, Code.InvalidArgument);
    const unlocked = await listUnlocked(
      pool,
      workspaceIds.filter((id) => uuidOrNull(id) !== null),
    );
    const lockedIds = workspaceIds.filter((id) => !unlocked.has(id));
    return create(ListLockedWorkspacesResponseSchema, { lockedIds });
  };
}
