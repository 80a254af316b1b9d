import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { valueNameViolation, variableViolation } from "../../domain/api-calls/workspace-values.ts";
import { MAX_VARIABLES, saveVariable as saveRow } from "../../store/variables.ts";
import { changeWorkspace } from "../change.ts";

export const saveVariable: Handler<Context, typeof DataSourceService.method.saveVariable> = async (
  context,
  { variable },
  call,
) => {
  const { name = "", value = "" } = variable ?? {};
  const violation = valueNameViolation(name) ?? variableViolation(value);
  if (violation) throw new ConnectError(`variable.${violation}`, Code.InvalidArgument);
  await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
    const saved = await saveRow(client, workspaceId, email, { name, value });
    if (!saved) throw new ConnectError(`at most ${MAX_VARIABLES} variables`, Code.ResourceExhausted);
    await audit("variable.save", name, ["value"]);
  });
  return {};
};
