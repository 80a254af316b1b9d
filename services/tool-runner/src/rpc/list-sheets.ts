import type { HandlerContext } from "@connectrpc/connect";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { listSheets as listRows } from "../store/sheets.ts";

export async function listSheets(context: Context, call: HandlerContext) {
  return { names: await listRows(context.pool, principalOf(call).workspaceId) };
}
