import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { type ListExecutionsRequest, Success } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { keptSince } from "../domain/retention.ts";
import { type ExecutionCursor, listExecutions as listRows } from "../store/executions.ts";
import { executionMessage } from "./execution-message.ts";

export async function listExecutions(context: Context, request: ListExecutionsRequest, call: HandlerContext) {
  const size = pageSize(request.pageSize);
  const { workspaceId } = principalOf(call);
  const filter = {
    tool: request.tool || undefined,
    entryType: request.entryType || undefined,
    callerId: request.callerId || undefined,
    chatId: request.chatId || undefined,
    success: request.success === Success.UNSPECIFIED ? undefined : request.success === Success.ONLY,
    startedFrom: laterOf(dateOf(request.startedFrom, "started_from"), keptSince(context.now())),
    startedBefore: dateOf(request.startedBefore, "started_before"),
  };
  const after = parsePageToken<ExecutionCursor>(request.pageToken, { startedAt: CURSOR.time, id: CURSOR.uuid });
  const rows = await listRows(context.pool, workspaceId, filter, { limit: size + 1, after });
  const page = rows.slice(0, size);
  const last = rows.length > size ? page.at(-1) : undefined;
  return {
    executions: page.map(executionMessage),
    nextPageToken: last ? nextPageToken({ startedAt: last.startedAtText, id: last.id }) : "",
  };
}

function laterOf(asked: Date | undefined, since: Date): Date {
  return asked && asked > since ? asked : since;
}

function dateOf(timestamp: Timestamp | undefined, name: string): Date | undefined {
  if (!timestamp) return undefined;
  const date = timestampDate(timestamp);
  if (Number.isNaN(date.getTime())) throw new ConnectError(`${name}: not a time`, Code.InvalidArgument);
  return date;
}
