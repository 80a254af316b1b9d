import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { countHours, type HourRow } from "../../store/usage.ts";
import { uuidOrNull } from "../../store/uuid.ts";

const MAX_IDS = 50;

export const getHourlyCounts: Handler<Context, typeof KeyService.method.getHourlyCounts> = async (
  { pool, now },
  { ids },
  call,
) => {
  if (ids.length > MAX_IDS) throw new ConnectError(`ids: must be at most ${MAX_IDS}`, Code.InvalidArgument);
  const keyIds = ids.filter((id) => uuidOrNull(id) !== null);
  const from = firstOfHours(now().getTime());
  const rows = await countHours(pool, { workspaceId: principalOf(call).workspaceId, keyIds, from });
  return { firstHour: timestampOf(from), counts: rows.map(countOf) };
};

function countOf({ id, hour, count, read, failed, p50Ms, p99Ms }: HourRow) {
  return {
    id,
    hour: timestampOf(hour),
    count: BigInt(count),
    errors: BigInt(read < count ? Math.round((count * failed) / Math.max(1, read)) : failed),
    p50Ms: p50Ms ?? 0,
    p99Ms: p99Ms ?? 0,
  };
}
