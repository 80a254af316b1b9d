import type { ServiceImpl } from "@connectrpc/connect";
import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { findEndpoint } from "../store/endpoint.ts";
import { listReplays as listRows } from "../store/replay/replay.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";
import { toReplay } from "./replay-message.ts";

export function listReplays(deps: { pool: Pool; now: () => Date }): ServiceImpl<typeof ReplayService>["listReplays"] {
  const { pool } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const limit = pageSize(request.pageSize);
    const before = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.number })?.before;
    const key = request.endpointId === 0n ? undefined : endpointKey(principal, request.endpointId);
    if (key && !(await findEndpoint(pool, key))) throw noSuchEndpoint();
    const rows = await listRows(pool, {
      workspaceId: principal.workspaceId,
      limit: limit + 1,
      ...(key && { endpointId: key.endpointId }),
      ...(before !== undefined && { before: Number(before) }),
    });
    const now = deps.now();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      replays: page.map((row) => toReplay(row, now)),
      nextPageToken: rows.length > limit && last ? nextPageToken({ before: String(last.id) }) : "",
    };
  };
}
