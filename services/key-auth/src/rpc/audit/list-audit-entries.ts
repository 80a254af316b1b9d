import type { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { type AuditCursor, type FieldChange, listAuditEntries as listEntries } from "../../store/audit.ts";

export const listAuditEntries: Handler<Context, typeof AuditService.method.listAuditEntries> = async (
  context,
  request,
  call,
) => {
  const size = pageSize(request.pageSize);
  const { workspaceId } = principalOf(call);
  const { targetId, action, actor } = request;
  const after = parsePageToken<AuditCursor>(request.pageToken, { at: CURSOR.time, id: CURSOR.uuid });
  const rows = await listEntries(context.pool, { workspaceId, targetId, action, actor, limit: size + 1, after });
  const page = rows.slice(0, size);
  const last = page.at(-1);
  const hasMore = rows.length > size || last?.isLastRead;
  const matching = page.filter(({ matches }) => matches);
  return {
    entries: matching.map(({ id, at, actor, action, targetId, target, changes }) => ({
      id,
      at: timestampOf(at),
      actor,
      action,
      targetId,
      target,
      changes: changes.map(changeMessage),
    })),
    nextPageToken: last && hasMore ? nextPageToken(last.cursor) : "",
  };
};

function changeMessage({ field, before, after }: FieldChange) {
  return { field, beforeJson: jsonOf(before), afterJson: jsonOf(after) };
}

function jsonOf(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value);
}
