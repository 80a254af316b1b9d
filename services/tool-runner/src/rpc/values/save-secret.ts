import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { trimPasted } from "@toolgate/rules/pasted";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { hostsViolation, secretViolation, valueNameViolation } from "../../domain/api-calls/workspace-values.ts";
import { secretContext } from "../../execution/workspace/workspace-values.ts";
import { MAX_SECRETS, saveSecret as saveRow } from "../../store/secrets.ts";
import { changeWorkspace } from "../change.ts";

export const saveSecret: Handler<Context, typeof DataSourceService.method.saveSecret> = async (
  context,
  { name, value: pasted, hosts: sentHosts },
  call,
) => {
  const value = trimPasted(pasted);
  const hosts = [...new Set(sentHosts)];
  const violation = valueNameViolation(name) ?? secretViolation(value) ?? hostsViolation(hosts);
  if (violation) throw new ConnectError(violation, Code.InvalidArgument);
  await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
    const sealedValue = context.secretBox.seal(value, secretContext(workspaceId, name));
    const saved = await saveRow(client, workspaceId, { name, sealedValue, hosts, savedBy: email });
    if (!saved) throw new ConnectError(`at most ${MAX_SECRETS} secrets`, Code.ResourceExhausted);
    await audit("secret.save", name, ["value", "hosts"]);
  });
  return {};
};
