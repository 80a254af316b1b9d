import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { SaveVariableRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { isValueName, variableFault } from "../domain/workspace-names.ts";
import { MAX_VARIABLES, saveVariable as saveRow } from "../store/variables.ts";
import { announce } from "./announce.ts";
import { inAuditedTransaction } from "./audit.ts";

export const VALUE_NAME_FAULT = "name: 1 to 64 letters, digits and underscores, no digit first";

export async function saveVariable(context: Context, request: SaveVariableRequest, call: HandlerContext) {
  const { workspaceId, email } = principalOf(call);
  const { name = "", value = "" } = request.variable ?? {};
  const fault = isValueName(name) ? variableFault(value) : VALUE_NAME_FAULT;
  if (fault) throw new ConnectError(`variable.${fault}`, Code.InvalidArgument);
  await inAuditedTransaction(context, call, async (client, _, record) => {
    const saved = await saveRow(client, workspaceId, email, { name, value });
    if (!saved) throw new ConnectError(`at most ${MAX_VARIABLES} variables`, Code.ResourceExhausted);
    await record("variable.save", name, ["value"]);
  });
  await announce(context, workspaceId);
  return {};
}
