import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { trimPasted } from "@toolgate/rules/pasted";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import {
  hostsViolation,
  secretViolation,
  valueNameViolation,
  variableViolation,
} from "../../domain/api-calls/workspace-values.ts";
import { secretContext } from "../../execution/workspace/workspace-values.ts";
import { deleteSecret, listSecrets, MAX_SECRETS, saveSecret } from "../../store/secrets.ts";
import { deleteVariable, listVariables, MAX_VARIABLES, saveVariable } from "../../store/variables.ts";
import { changeWorkspace, deleteByName } from "../change.ts";

export const secretAndVariableHandlers = {
  async saveSecret(context, { name, value: pasted, hosts: sentHosts }, call) {
    const value = trimPasted(pasted);
    const hosts = [...new Set(sentHosts)];
    const violation = valueNameViolation(name) ?? secretViolation(value) ?? hostsViolation(hosts);
    if (violation) throw new ConnectError(violation, Code.InvalidArgument);
    await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
      const sealedValue = context.secretBox.seal(value, secretContext(workspaceId, name));
      const saved = await saveSecret(client, workspaceId, { name, sealedValue, hosts, savedBy: email });
      if (!saved) throw new ConnectError(`at most ${MAX_SECRETS} secrets`, Code.ResourceExhausted);
      await audit("secret.save", name, ["value", "hosts"]);
    });
    return {};
  },

  async listSecrets({ pool }, _, call) {
    const rows = await listSecrets(pool, principalOf(call).workspaceId);
    return { secrets: rows.map(({ savedAt, ...row }) => ({ ...row, savedAt: timestampOf(savedAt) })) };
  },

  deleteSecret: (context, { name }, call) =>
    deleteByName(context, call, { what: "secret", name, action: "secret.delete", deleteRow: deleteSecret }),

  async saveVariable(context, { variable }, call) {
    const { name = "", value = "" } = variable ?? {};
    const violation = valueNameViolation(name) ?? variableViolation(value);
    if (violation) throw new ConnectError(`variable.${violation}`, Code.InvalidArgument);
    await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
      const saved = await saveVariable(client, workspaceId, email, { name, value });
      if (!saved) throw new ConnectError(`at most ${MAX_VARIABLES} variables`, Code.ResourceExhausted);
      await audit("variable.save", name, ["value"]);
    });
    return {};
  },

  async listVariables({ pool }, _, call) {
    return { variables: await listVariables(pool, principalOf(call).workspaceId) };
  },

  deleteVariable: (context, { name }, call) =>
    deleteByName(context, call, { what: "variable", name, action: "variable.delete", deleteRow: deleteVariable }),
} satisfies Handlers<Context, typeof DataSourceService>;
