import type { HandlerContext } from "@connectrpc/connect";
import type { RestoreToolVersionRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { changedFields } from "../domain/changed-fields.ts";
import { newlyExposed } from "../domain/release.ts";
import { findVersion } from "../store/tool-versions.ts";
import { insertVersion, lockCurrentDefinition } from "../store/tools.ts";
import { announce } from "./announce.ts";
import { inAuditedTransaction } from "./audit.ts";
import { noSuchTool } from "./get-tool.ts";
import { checkedDefinition, mustBeConfirmed, refuseTooMany } from "./save-tool.ts";
import { toolMessage } from "./tool-message.ts";

/** [EXPO] Every flag of a restored version counts as newly set, whatever the version says that it replaces. */
export async function restoreToolVersion(context: Context, request: RestoreToolVersionRequest, call: HandlerContext) {
  const { workspaceId, email } = principalOf(call);
  const { name, version } = request;
  const row = await inAuditedTransaction(context, call, async (client, _, record) => {
    const old = await findVersion(client, { workspaceId, name }, version);
    if (!old) throw noSuchTool();
    const before = await lockCurrentDefinition(client, workspaceId, name);
    if (before === undefined) await refuseTooMany(client, workspaceId);
    const definition = checkedDefinition(old.definition);
    const exposed = newlyExposed(undefined, definition);
    mustBeConfirmed(exposed, request.confirmExposure);
    await record("tool.restore", name, changedFields(before, definition));
    if (exposed.length > 0) await record("tool.expose", name, exposed);
    return insertVersion(client, { workspaceId, name, definition, savedBy: email });
  });
  await announce(context, workspaceId);
  return { tool: toolMessage(row) };
}
