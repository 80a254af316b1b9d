import { Code, ConnectError } from "@connectrpc/connect";
import type { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { logKeptSince } from "@toolgate/postgres/retention";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { validate as isUuid } from "uuid";
import type { Context } from "../../context.ts";
import { type ExecutionRow, findExecutionTree } from "../../store/executions.ts";
import { executionMessage, loggedCharacters } from "./execution-message.ts";

const MAX_CHILDREN_CHARACTERS = 1024 * 1024;

export const getExecution: Handler<Context, typeof ExecutionService.method.getExecution> = async (
  { pool, now },
  { executionId: id },
  call,
) => {
  const rows = isUuid(id) ? await findExecutionTree(pool, principalOf(call).workspaceId, id) : [];
  const since = logKeptSince(now());
  const execution = rows.find((row) => row.id === id && row.startedAt >= since);
  if (!execution) throw new ConnectError("no such execution", Code.NotFound);
  return {
    execution: executionMessage(execution),
    children: withinBytes(rows.filter((row) => row !== execution)).map(executionMessage),
  };
};

/** The first ones; the others are in the list, like all runs. */
function withinBytes(rows: readonly ExecutionRow[]): ExecutionRow[] {
  let characters = 0;
  return rows.filter((row) => {
    characters += loggedCharacters(row);
    return characters <= MAX_CHILDREN_CHARACTERS;
  });
}
