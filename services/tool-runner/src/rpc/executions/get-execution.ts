import { Code, ConnectError } from "@connectrpc/connect";
import type { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { logKeptSince } from "@toolgate/postgres/retention";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { validate as isUuid } from "uuid";
import type { Context } from "../../context.ts";
import { findExecutionTree } from "../../store/executions.ts";
import { executionMessage } from "./execution-message.ts";

export const getExecution: Handler<Context, typeof ExecutionService.method.getExecution> = async (
  { pool, now },
  { executionId: id },
  call,
) => {
  const rows = isUuid(id) ? await findExecutionTree(pool, principalOf(call).workspaceId, id) : [];
  const since = logKeptSince(now());
  const [execution, ...nested] = rows;
  if (!execution || execution.startedAt < since) throw new ConnectError("no such execution", Code.NotFound);
  return {
    execution: executionMessage(execution),
    children: nested.map(executionMessage),
    hasMoreChildren: execution.found > rows.length,
  };
};
