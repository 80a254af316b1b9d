import { Code, ConnectError } from "@connectrpc/connect";
import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { isToolName } from "../../domain/definitions/definition.ts";
import { isSharedTool } from "../../domain/definitions/shared-tools.ts";
import { changeWorkspace } from "../change.ts";
import { mustBeValid, saveVersion } from "./save-version.ts";
import { toolMessage } from "./tool-message.ts";

/** Fails with invalid_argument for a name that no tool of a workspace may have. */
export function mustBeFreeName(name: string): void {
  if (!isToolName(name)) {
    throw new ConnectError("name: 1 to 64 letters, digits, underscores and hyphens", Code.InvalidArgument);
  }
  if (isSharedTool(name)) throw new ConnectError(`name: ${name} is a shared tool`, Code.InvalidArgument);
}

export const saveTool: Handler<Context, typeof ToolService.method.saveTool> = async (
  context,
  { name, definition = {}, confirmExposure, expectedVersion },
  call,
) => {
  mustBeFreeName(name);
  await mustBeValid(context.compiler, principalOf(call).workspaceId, definition);
  const row = await changeWorkspace(context, call, (change) =>
    saveVersion(change, { name, definition, restored: false, confirmExposure, expectedVersion }),
  );
  return { tool: toolMessage(row) };
};
