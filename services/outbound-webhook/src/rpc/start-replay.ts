import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { findEndpoint } from "../store/endpoint.ts";
import { previewReplay as preview } from "../store/replay/preview.ts";
import { startReplay as insertReplay, MAX_RUNNING_PER_WORKSPACE, type StartResult } from "../store/replay/replay.ts";
import { recordReplayDeed } from "./audit.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";
import { MAX_EVENTS_COUNTED, rangeOf, rateOf } from "./replay-message.ts";

export function startReplay(deps: {
  pool: Pool;
  announceReplay: () => void;
  now: () => Date;
}): ServiceImpl<typeof ReplayService>["startReplay"] {
  const { pool, announceReplay } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const key = endpointKey(principal, request.endpointId);
    const now = deps.now();
    const range = rangeOf(request.range, now);
    const ratePerSecond = rateOf(request.ratePerSecond);
    if (!(await findEndpoint(pool, key))) throw noSuchEndpoint();
    const { events, more } = await preview(pool, key.endpointId, range, MAX_EVENTS_COUNTED);
    const replay = { range, ratePerSecond, eventsAtStart: events, moreAtStart: more, startedBy: principal.email };
    const replayId = await inTransaction(pool, async (client) => {
      const result = await insertReplay(client, key, replay, now);
      if (typeof result === "string") throw refusal(result);
      await recordReplayDeed(client, result.replayId, { principal, at: now, action: "replay.start" });
      return result.replayId;
    });
    announceReplay();
    return { replayId: BigInt(replayId) };
  };
}

function refusal(result: Extract<StartResult, string>): ConnectError {
  switch (result) {
    case "no-such-endpoint":
      return noSuchEndpoint();
    case "endpoint-inactive":
      return new ConnectError("the endpoint is inactive", Code.FailedPrecondition);
    case "endpoint-busy":
      return new ConnectError("a replay of this endpoint is running", Code.FailedPrecondition);
    case "workspace-busy":
      return new ConnectError(
        `a workspace has at most ${MAX_RUNNING_PER_WORKSPACE} running replays`,
        Code.ResourceExhausted,
      );
  }
}
