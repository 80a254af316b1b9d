import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listReplays as listRows } from "../../store/replay/replay.ts";
import { endpointKey, requireEndpoint } from "../request-fields.ts";
import { toReplay } from "./replay-message.ts";

export const listReplays: Handler<Context, typeof ReplayService.method.listReplays> = async (
  context,
  request,
  call,
) => {
  const principal = principalOf(call);
  const limit = pageSize(request.pageSize);
  const before = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.number })?.before;
  const key = request.endpointId === 0n ? undefined : endpointKey(principal, request.endpointId);
  if (key) await requireEndpoint(context.pool, key);
  const rows = await listRows(context.pool, {
    workspaceId: principal.workspaceId,
    limit: limit + 1,
    ...(key && { endpointId: key.endpointId }),
    ...(before !== undefined && { before: Number(before) }),
  });
  const now = context.now();
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    replays: page.map((row) => toReplay(row, now)),
    nextPageToken: rows.length > limit && last ? nextPageToken({ before: String(last.id) }) : "",
  };
};
