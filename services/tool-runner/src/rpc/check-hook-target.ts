import type { HookTargetService } from "@toolgate/gen/toolgate/tool_runner/v1/hook_target_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { declaredArguments } from "../domain/definitions/parameter-schema.ts";
import { isReleased, runsReadOnly } from "../domain/definitions/release.ts";
import { checkBody } from "../execution/run-call.ts";

/** [IN-48..53] Uses the definition that a run of this moment would use. */
export const checkHookTarget: Handler<Context, typeof HookTargetService.method.checkHookTarget> = async (
  { currentEpoch, definitions, redact },
  { workspaceId, tool: name, body, fromForm },
) => {
  // Without Redis the definition is read from the database.
  const epoch = await currentEpoch(workspaceId).catch(() => 0n);
  const tool = await definitions.tool(workspaceId, name, epoch);
  if (!tool || !isReleased(tool.definition, "hook")) return {};
  const target = {
    released: true,
    mayWrite: !runsReadOnly(tool.definition, "hook"),
    arguments: declaredArguments(tool.definition.parameters),
  };
  if (body.byteLength === 0) return target;
  const checked = checkBody(tool, body, { entry: "hook", fromForm });
  if (!checked.ok) return { ...target, violations: checked.violations };
  return { ...target, argsJson: Buffer.from(JSON.stringify(redact(checked.args))) };
};
