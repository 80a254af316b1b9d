import { type ExecutionService, Success } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { logKeptSince } from "@toolgate/postgres/retention";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken, readPage } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { requestTime } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { type ExecutionCursor, type ExecutionRow, listExecutions as listRows } from "../../store/executions.ts";
import { executionMessage, loggedCharacters } from "./execution-message.ts";

export const listExecutions: Handler<Context, typeof ExecutionService.method.listExecutions> = async (
  { pool, now },
  request,
  call,
) => {
  const size = pageSize(request.pageSize);
  const since = logKeptSince(now());
  const startedFrom = requestTime("started_from", request.startedFrom);
  const filter = {
    tool: request.tool || undefined,
    entryType: request.entryType || undefined,
    callerId: request.callerId || undefined,
    chatId: request.chatId || undefined,
    requestId: request.requestId || undefined,
    success: request.success === Success.UNSPECIFIED ? undefined : request.success === Success.ONLY,
    startedFrom: startedFrom && startedFrom > since ? startedFrom : since,
    startedBefore: requestTime("started_before", request.startedBefore),
  };
  const after = parsePageToken<ExecutionCursor>(request.pageToken, { startedAt: CURSOR.time, id: CURSOR.uuid });
  const { workspaceId } = principalOf(call);
  const { page, last } = await readPage({
    size,
    sizeOf: loggedCharacters,
    read: (limit, row) => listRows(pool, workspaceId, filter, { limit, after: row ? cursorOf(row) : after }),
  });
  return {
    executions: page.map(executionMessage),
    nextPageToken: last ? nextPageToken(cursorOf(last)) : "",
  };
};

function cursorOf({ startedAtText, id }: ExecutionRow): ExecutionCursor {
  return { startedAt: startedAtText, id };
}
