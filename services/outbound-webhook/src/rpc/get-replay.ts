import type { ServiceImpl } from "@connectrpc/connect";
import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { findReplay } from "../store/replay/replay.ts";
import { noSuchReplay, replayKey, toReplay } from "./replay-message.ts";

export function getReplay(deps: { pool: Pool; now: () => Date }): ServiceImpl<typeof ReplayService>["getReplay"] {
  return async (request, context) => {
    const row = await findReplay(deps.pool, replayKey(principalOf(context), request.replayId));
    if (!row) throw noSuchReplay();
    return { replay: toReplay(row, deps.now()) };
  };
}
