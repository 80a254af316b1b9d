import { Code, ConnectError } from "@connectrpc/connect";
import { type ExecutionService, Success } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { logKeptSince } from "@toolgate/postgres/retention";
import type { Handlers } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken, readPage } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, requestTime, timestampOf } from "@toolgate/service-host/time";
import { validate as isUuid } from "uuid";
import type { Context } from "../context.ts";
import { countHours } from "../store/execution-hours.ts";
import { type ExecutionCursor, type ExecutionRow, findExecutionTree, listExecutions } from "../store/executions.ts";

const MAX_IDS = 50;
/** What a host call takes up in a page, about. */
const HOST_CALL_CHARACTERS = 150;

export const executionHandlers = {
  async listExecutions({ pool, now }, request, call) {
    const size = pageSize(request.pageSize);
    const since = logKeptSince(now());
    const startedFrom = requestTime("started_from", request.startedFrom);
    const { tool, entryType, callerId, chatId, requestId } = request;
    const filter = {
      ...{ tool, entryType, callerId, chatId, requestId },
      success: request.success === Success.UNSPECIFIED ? undefined : request.success === Success.ONLY,
      startedFrom: startedFrom && startedFrom > since ? startedFrom : since,
      startedBefore: requestTime("started_before", request.startedBefore),
    };
    const after = parsePageToken<ExecutionCursor>(request.pageToken, { startedAt: CURSOR.time, id: CURSOR.uuid });
    const { workspaceId } = principalOf(call);
    const { page, last } = await readPage({
      size,
      sizeOf: loggedCharacters,
      read: (limit, row) => listExecutions(pool, workspaceId, filter, { limit, after: row ? cursorOf(row) : after }),
    });
    return {
      executions: page.map(executionMessage),
      nextPageToken: last ? nextPageToken(cursorOf(last)) : "",
    };
  },

  async getExecution({ pool, now }, { executionId: id }, call) {
    const rows = isUuid(id) ? await findExecutionTree(pool, principalOf(call).workspaceId, id) : [];
    const [execution, ...nested] = rows;
    if (!execution || execution.startedAt < logKeptSince(now())) {
      throw new ConnectError("no such execution", Code.NotFound);
    }
    return {
      execution: executionMessage(execution),
      children: nested.map(executionMessage),
      hasMoreChildren: execution.found > rows.length,
    };
  },

  async getHourlyCounts({ pool, now }, { ids }, call) {
    if (ids.length > MAX_IDS) throw new ConnectError(`ids: must be at most ${MAX_IDS}`, Code.InvalidArgument);
    const from = firstOfHours(now());
    const rows = await countHours(pool, { workspaceId: principalOf(call).workspaceId, tools: ids, from });
    const counts = rows.map(({ hour, count, errors, ...row }) => ({
      ...row,
      hour: timestampOf(hour),
      count: BigInt(count),
      errors: BigInt(errors),
    }));
    return { firstHour: timestampOf(from), counts };
  },
} satisfies Handlers<Context, typeof ExecutionService>;

function cursorOf({ startedAtText, id }: ExecutionRow): ExecutionCursor {
  return { startedAt: startedAtText, id };
}

function executionMessage({ startedAt, startedAtText: _, parentId, hostCalls, ...row }: ExecutionRow) {
  return {
    ...row,
    parentId: parentId ?? "",
    startedAt: timestampOf(startedAt),
    hostCalls: hostCalls.map(({ started_after_ms, duration_ms, error_code, ...call }) => ({
      ...call,
      startedAfterMs: started_after_ms,
      durationMs: duration_ms,
      errorCode: error_code,
    })),
  };
}

/** What a run of the log takes up, about. */
function loggedCharacters({ argsJson, resultJson, logs, hostCalls, error }: ExecutionRow): number {
  const texts = [argsJson, resultJson, error, ...logs];
  return texts.reduce((sum, { length }) => sum + length, hostCalls.length * HOST_CALL_CHARACTERS);
}
