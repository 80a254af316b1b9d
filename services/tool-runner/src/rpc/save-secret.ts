import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { SaveSecretRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { hostsFault, isValueName, secretFault } from "../domain/workspace-names.ts";
import { secretContext } from "../execution/workspace-values.ts";
import { MAX_SECRETS, saveSecret as saveRow } from "../store/secrets.ts";
import { announce } from "./announce.ts";
import { inAuditedTransaction } from "./audit.ts";
import { VALUE_NAME_FAULT } from "./save-variable.ts";

export async function saveSecret(context: Context, request: SaveSecretRequest, call: HandlerContext) {
  const { workspaceId, email } = principalOf(call);
  const { name, value } = request;
  const hosts = [...new Set(request.hosts)];
  const fault = isValueName(name) ? (secretFault(value) ?? hostsFault(hosts)) : VALUE_NAME_FAULT;
  if (fault) throw new ConnectError(fault, Code.InvalidArgument);
  const sealedValue = context.secretBox.seal(value, secretContext(workspaceId, name));
  await inAuditedTransaction(context, call, async (client, _, record) => {
    const saved = await saveRow(client, workspaceId, { name, sealedValue, hosts, savedBy: email });
    if (!saved) throw new ConnectError(`at most ${MAX_SECRETS} secrets`, Code.ResourceExhausted);
    await record("secret.save", name, ["value", "hosts"]);
  });
  await announce(context, workspaceId);
  return {};
}
