import { Code, ConnectError } from "@connectrpc/connect";
import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { type DefinitionViolation, isToolName } from "../../domain/definitions/definition.ts";
import { newlyExposed } from "../../domain/definitions/release.ts";
import { SHARED_TOOLS } from "../../domain/definitions/shared-tools.ts";
import { dryRun } from "../../execution/dry-run.ts";
import { loadDraft } from "../../execution/workspace/definitions.ts";
import { findTool } from "../../store/tools.ts";
import { changeWorkspace } from "../change.ts";
import { checkDraft, mustBeValid, saveVersion } from "./save-version.ts";
import { noSuchTool, toolMessage } from "./tools.ts";

const IN_HANDLER = /^(handler):(\d+):(\d+)$/;

export const draftHandlers = {
  async saveTool(context, { name, definition = {}, confirmExposure, expectedVersion }, call) {
    mustBeFreeName(name);
    await mustBeValid(context.compiler, principalOf(call).workspaceId, definition);
    const row = await changeWorkspace(context, call, (change) =>
      saveVersion(change, { name, definition, restored: false, confirmExposure, expectedVersion }),
    );
    return { tool: toolMessage(row) };
  },

  async checkTool({ pool, compiler }, { name, definition = {} }, call) {
    const { workspaceId } = principalOf(call);
    const [current, checked] = await Promise.all([
      findTool(pool, workspaceId, name),
      checkDraft(compiler, workspaceId, definition),
    ]);
    return {
      violations: checked.ok ? [] : checked.violations.map(violationMessage),
      newlyExposed: newlyExposed(current?.definition, definition),
    };
  },

  async dryRun(context, { tool: name, args = {}, definition }, call) {
    const principal = principalOf(call);
    if (definition) mustBeFreeName(name);
    const tool = definition
      ? loadDraft(name, await mustBeValid(context.compiler, principal.workspaceId, definition))
      : name;
    const response = await dryRun(context, { principal, tool, args });
    if (!response) throw noSuchTool();
    return response;
  },
} satisfies Handlers<Context, typeof ToolService>;

/** Fails with invalid_argument for a name that no tool of a workspace may have. */
function mustBeFreeName(name: string): void {
  if (!isToolName(name)) {
    throw new ConnectError("name: 1 to 64 letters, digits, underscores and hyphens", Code.InvalidArgument);
  }
  if (Object.hasOwn(SHARED_TOOLS, name)) {
    throw new ConnectError(`name: ${name} is a shared tool`, Code.InvalidArgument);
  }
}

function violationMessage({ path, message }: DefinitionViolation) {
  const [, member = path, line = 0, column = 0] = IN_HANDLER.exec(path) ?? [];
  return { path: member, message, line: Number(line), column: Number(column) };
}
