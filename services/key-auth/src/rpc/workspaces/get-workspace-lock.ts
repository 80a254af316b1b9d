import type { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { findWorkspaceById } from "../../store/workspaces.ts";

/** [IN-28] Always reads the database, so the response is newer than any epoch that the caller may know. */
export const getWorkspaceLock: Handler<Context, typeof WorkspaceService.method.getWorkspaceLock> = async (
  { pool },
  { workspaceId },
) => {
  const id = uuidOrNull(workspaceId);
  const workspace = id === null ? undefined : await findWorkspaceById(pool, id);
  return { locked: workspace?.locked ?? true };
};
