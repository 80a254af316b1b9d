import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { listSecrets as listRows } from "../store/secrets.ts";

export async function listSecrets(context: Context, call: HandlerContext) {
  const rows = await listRows(context.pool, principalOf(call).workspaceId);
  return { secrets: rows.map(({ savedAt, ...row }) => ({ ...row, savedAt: timestampFromDate(savedAt) })) };
}
