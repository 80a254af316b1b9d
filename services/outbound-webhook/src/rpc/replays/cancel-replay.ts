import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { findReplay } from "../../store/replay/replay.ts";
import { endReplay } from "../../store/replay/steps.ts";
import { auditReplay } from "../audit.ts";
import { noSuchReplay, replayKey, toReplay } from "./replay-message.ts";

export const cancelReplay: Handler<Context, typeof ReplayService.method.cancelReplay> = async (
  { pool, queuePool, queue, announceWork, now },
  request,
  call,
) => {
  const principal = principalOf(call);
  const key = replayKey(principal, request.replayId);
  const at = now();
  await inTransaction(queuePool, async (db) => {
    if (!(await endReplay(db, queue, key, principal.email, at))) throw noSuchReplay();
    await auditReplay(db, key.replayId, { principal, at, action: "replay.cancel" });
  });
  // A dispatcher skips a workspace while it is locked.
  announceWork();
  const row = await findReplay(pool, key);
  if (!row) throw noSuchReplay();
  return { replay: toReplay(row, at) };
};
