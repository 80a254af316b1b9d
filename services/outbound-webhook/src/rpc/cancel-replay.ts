import type { ServiceImpl } from "@connectrpc/connect";
import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { findReplay } from "../store/replay/replay.ts";
import type { ReplayStepStore } from "../store/replay/step.ts";
import { replayDeedRow } from "./audit.ts";
import { noSuchReplay, replayKey, toReplay } from "./replay-message.ts";

export function cancelReplay(deps: {
  pool: Pool;
  replaySteps: Pick<ReplayStepStore, "cancel">;
  announceWork: () => void;
  now: () => Date;
}): ServiceImpl<typeof ReplayService>["cancelReplay"] {
  const { pool, replaySteps, announceWork, now } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const key = replayKey(principal, request.replayId);
    const at = now();
    const deed = replayDeedRow(key.replayId, { principal, at, action: "replay.cancel" });
    if (!(await replaySteps.cancel(key, principal.email, at, deed))) throw noSuchReplay();
    // A dispatcher that came by while the workspace was locked has left it out.
    announceWork();
    const row = await findReplay(pool, key);
    if (!row) throw noSuchReplay();
    return { replay: toReplay(row, at) };
  };
}
