import type { HandlerContext } from "@connectrpc/connect";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { listVariables as listRows } from "../store/variables.ts";

export async function listVariables(context: Context, call: HandlerContext) {
  return { variables: await listRows(context.pool, principalOf(call).workspaceId) };
}
