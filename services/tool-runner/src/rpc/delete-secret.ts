import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { DeleteSecretRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { deleteSecret as deleteRow } from "../store/secrets.ts";
import { announce } from "./announce.ts";
import { deleteAudited } from "./audit.ts";

export async function deleteSecret(context: Context, request: DeleteSecretRequest, call: HandlerContext) {
  const { workspaceId } = principalOf(call);
  const { name } = request;
  const deleted = await deleteAudited(context, call, "secret.delete", {
    name,
    deleteRow: (client) => deleteRow(client, workspaceId, name),
  });
  await announce(context, workspaceId);
  if (!deleted) throw new ConnectError("no such secret", Code.NotFound);
  return {};
}
