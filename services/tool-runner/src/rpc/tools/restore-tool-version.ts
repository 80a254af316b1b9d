import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { findVersion } from "../../store/tool-versions.ts";
import { changeWorkspace } from "../change.ts";
import { mustBeValid, saveVersion } from "./save-version.ts";
import { noSuchTool, toolMessage } from "./tool-message.ts";

export const restoreToolVersion: Handler<Context, typeof ToolService.method.restoreToolVersion> = async (
  context,
  { name, version, confirmExposure },
  call,
) => {
  const row = await changeWorkspace(context, call, async (change) => {
    const { workspaceId } = change.principal;
    const old = await findVersion(change.client, { workspaceId, name }, version);
    if (!old) throw noSuchTool();
    await mustBeValid(context.compiler, workspaceId, old.definition);
    return saveVersion(change, { name, definition: old.definition, restored: true, confirmExposure });
  });
  return { tool: toolMessage(row) };
};
