import { Code, ConnectError } from "@connectrpc/connect";
import type { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { listUnlocked } from "../../store/workspaces.ts";

const MAX_IDS = 500;

/** [IN-28] Always reads the database, so the response is newer than any epoch that the caller may know. */
export const listLockedWorkspaces: Handler<Context, typeof WorkspaceService.method.listLockedWorkspaces> = async (
  { pool },
  { workspaceIds },
) => {
  if (workspaceIds.length > MAX_IDS) throw new ConnectError(`at most ${MAX_IDS} workspaces`, Code.InvalidArgument);
  const unlocked = await listUnlocked(
    pool,
    workspaceIds.filter((id) => uuidOrNull(id) !== null),
  );
  return { lockedIds: workspaceIds.filter((id) => !unlocked.has(id)) };
};
