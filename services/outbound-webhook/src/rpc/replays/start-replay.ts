import { Code, ConnectError } from "@connectrpc/connect";
import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { previewReplay as preview } from "../../store/replay/preview.ts";
import { startReplay as insertReplay, MAX_RUNNING_PER_WORKSPACE, type StartResult } from "../../store/replay/replay.ts";
import { auditReplay } from "../audit.ts";
import { endpointKey, noSuchEndpoint, requireEndpoint } from "../request-fields.ts";
import { MAX_EVENTS_COUNTED, rangeOf, rateOf } from "./replay-message.ts";

export const startReplay: Handler<Context, typeof ReplayService.method.startReplay> = async (
  context,
  request,
  call,
) => {
  const { pool } = context;
  const principal = principalOf(call);
  const key = endpointKey(principal, request.endpointId);
  const now = context.now();
  const range = rangeOf(request.range, now);
  const ratePerSecond = rateOf(request.ratePerSecond);
  await requireEndpoint(pool, key);
  const { events, more } = await preview(pool, key.endpointId, range, MAX_EVENTS_COUNTED);
  const replay = { range, ratePerSecond, eventsAtStart: events, moreAtStart: more, startedBy: principal.email };
  const replayId = await inTransaction(pool, async (client) => {
    const result = await insertReplay(client, key, replay, now);
    if (typeof result === "string") throw refusal(result);
    await auditReplay(client, result.replayId, { principal, at: now, action: "replay.start" });
    return result.replayId;
  });
  context.replayWakeUp.signal();
  return { replayId: BigInt(replayId) };
};

function refusal(result: Extract<StartResult, string>): ConnectError {
  switch (result) {
    case "no-such-endpoint":
      return noSuchEndpoint();
    case "endpoint-inactive":
      return new ConnectError("the endpoint is inactive", Code.FailedPrecondition);
    case "endpoint-busy":
      return new ConnectError("a replay of this endpoint is running", Code.FailedPrecondition);
    case "workspace-busy": {
      const limit = `a workspace has at most ${MAX_RUNNING_PER_WORKSPACE} running replays`;
      return new ConnectError(limit, Code.ResourceExhausted);
    }
  }
}
