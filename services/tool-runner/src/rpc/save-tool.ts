import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { SaveToolRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Client } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { changedFields } from "../domain/changed-fields.ts";
import { checkDefinition, isToolName } from "../domain/definition.ts";
import { newlyExposed } from "../domain/release.ts";
import { isSharedTool } from "../domain/shared-tools.ts";
import { compileHandler } from "../sandbox/compile.ts";
import { countTools, insertVersion, lockCurrentDefinition } from "../store/tools.ts";
import { announce } from "./announce.ts";
import { inAuditedTransaction } from "./audit.ts";
import { toolMessage } from "./tool-message.ts";

const MAX_TOOLS = 2_000;

export async function saveTool(context: Context, request: SaveToolRequest, call: HandlerContext) {
  const { workspaceId, email } = principalOf(call);
  const { name } = request;
  if (!isToolName(name)) {
    throw new ConnectError("name: 1 to 64 letters, digits, underscores and hyphens", Code.InvalidArgument);
  }
  if (isSharedTool(name)) throw new ConnectError(`name: ${name} is a shared tool`, Code.InvalidArgument);
  const definition = checkedDefinition(request.definition ?? {});
  const row = await inAuditedTransaction(context, call, async (client, _, record) => {
    const before = await lockCurrentDefinition(client, workspaceId, name);
    if (before === undefined) await refuseTooMany(client, workspaceId);
    const exposed = newlyExposed(before, definition);
    mustBeConfirmed(exposed, request.confirmExposure);
    await record(before === undefined ? "tool.create" : "tool.edit", name, changedFields(before, definition));
    if (exposed.length > 0) await record("tool.expose", name, exposed);
    return insertVersion(client, { workspaceId, name, definition, savedBy: email });
  });
  await announce(context, workspaceId);
  return { tool: toolMessage(row) };
}

/** Before a tool comes to those of the workspace. */
export async function refuseTooMany(client: Client, workspaceId: string): Promise<void> {
  if ((await countTools(client, workspaceId)) < MAX_TOOLS) return;
  throw new ConnectError(`at most ${MAX_TOOLS} tools`, Code.ResourceExhausted);
}

/** The definition itself, when it can work. */
export function checkedDefinition(definition: unknown): unknown {
  const checked = checkDefinition(definition, compileHandler);
  if (checked.ok) return definition;
  const faults = checked.faults.map(({ path, message }) => `${path}: ${message}`);
  throw new ConnectError(faults.join("; "), Code.InvalidArgument);
}

/** [EXPO-3] [EXPO-4] Aborted is HTTP 409. */
export function mustBeConfirmed(exposed: string[], confirmed: boolean): void {
  if (exposed.length === 0 || confirmed) return;
  throw new ConnectError(`newly exposed by ${exposed.join(", ")}: repeat with confirm_exposure=true`, Code.Aborted);
}
