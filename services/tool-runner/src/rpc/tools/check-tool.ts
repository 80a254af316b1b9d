import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import type { DefinitionViolation } from "../../domain/definitions/definition.ts";
import { newlyExposed } from "../../domain/definitions/release.ts";
import { findTool } from "../../store/tools.ts";
import { checkDraft } from "./save-version.ts";

const IN_HANDLER = /^(handler):(\d+):(\d+)$/;

export const checkTool: Handler<Context, typeof ToolService.method.checkTool> = async (
  { pool, compiler },
  { name, definition = {} },
  call,
) => {
  const { workspaceId } = principalOf(call);
  const [current, checked] = await Promise.all([
    findTool(pool, workspaceId, name),
    checkDraft(compiler, workspaceId, definition),
  ]);
  return {
    violations: checked.ok ? [] : checked.violations.map(violationMessage),
    newlyExposed: newlyExposed(current?.definition, definition),
  };
};

function violationMessage({ path, message }: DefinitionViolation) {
  const [, member = path, line = 0, column = 0] = IN_HANDLER.exec(path) ?? [];
  return { path: member, message, line: Number(line), column: Number(column) };
}
