import { Code, ConnectError } from "@connectrpc/connect";
import type { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { countHours, type HourRow } from "../../store/execution-hours.ts";

const MAX_IDS = 50;

export const getHourlyCounts: Handler<Context, typeof ExecutionService.method.getHourlyCounts> = async (
  { pool, now },
  { ids },
  call,
) => {
  if (ids.length > MAX_IDS) throw new ConnectError(`ids: must be at most ${MAX_IDS}`, Code.InvalidArgument);
  const from = firstOfHours(now());
  const rows = await countHours(pool, { workspaceId: principalOf(call).workspaceId, tools: ids, from });
  return { firstHour: timestampOf(from), counts: rows.map(countOf) };
};

function countOf({ hour, count, errors, ...row }: HourRow) {
  return { ...row, hour: timestampOf(hour), count: BigInt(count), errors: BigInt(errors) };
}
