import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { findReplay } from "../../store/replay/replay.ts";
import { noSuchReplay, replayKey, toReplay } from "./replay-message.ts";

export const getReplay: Handler<Context, typeof ReplayService.method.getReplay> = async (
  { pool, now },
  { replayId },
  call,
) => {
  const row = await findReplay(pool, replayKey(principalOf(call), replayId));
  if (!row) throw noSuchReplay();
  return { replay: toReplay(row, now()) };
};
