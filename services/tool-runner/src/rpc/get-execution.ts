import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { GetExecutionRequest } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { principalOf } from "@toolgate/service-host/principal";
import { validate as isUuid } from "uuid";
import type { Context } from "../context.ts";
import { keptSince } from "../domain/retention.ts";
import { findExecutionTree } from "../store/executions.ts";
import { executionMessage } from "./execution-message.ts";

export async function getExecution(context: Context, request: GetExecutionRequest, call: HandlerContext) {
  const id = request.executionId;
  const rows = isUuid(id) ? await findExecutionTree(context.pool, principalOf(call).workspaceId, id) : [];
  const since = keptSince(context.now());
  const execution = rows.find((row) => row.id === id && row.startedAt >= since);
  if (!execution) throw new ConnectError("no such execution", Code.NotFound);
  return {
    execution: executionMessage(execution),
    children: rows.filter((row) => row !== execution).map(executionMessage),
  };
}
