import { Code, ConnectError } from "@connectrpc/connect";
import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handlers } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { previewReplay } from "../../store/replay/preview.ts";
import {
  findReplay,
  listReplays,
  MAX_RUNNING_PER_WORKSPACE,
  type StartResult,
  startReplay,
} from "../../store/replay/replay.ts";
import { endReplay } from "../../store/replay/steps.ts";
import { auditReplay } from "../audit.ts";
import { endpointKey, noSuchEndpoint, requireEndpoint } from "../request-fields.ts";
import { noSuchReplay, rangeOf, rateOf, replayKey, secondsFor, toReplay } from "./replay-message.ts";

/** How far a preview and the start of a replay count events. */
const MAX_EVENTS_COUNTED = 100_000;

export const replayHandlers = {
  async previewReplay({ pool, now }, request, call) {
    const key = endpointKey(principalOf(call), request.endpointId);
    const range = rangeOf(request.range, now());
    const rate = rateOf(request.ratePerSecond);
    await requireEndpoint(pool, key);
    const { oldest, newest, ...counted } = await previewReplay(pool, key.endpointId, range, MAX_EVENTS_COUNTED);
    return {
      ...counted,
      ...(oldest && { oldest: timestampOf(oldest) }),
      ...(newest && { newest: timestampOf(newest) }),
      estimatedSeconds: secondsFor(counted.events, rate),
    };
  },

  async startReplay({ pool, replayWakeUp, ...context }, request, call) {
    const principal = principalOf(call);
    const key = endpointKey(principal, request.endpointId);
    const now = context.now();
    const range = rangeOf(request.range, now);
    const ratePerSecond = rateOf(request.ratePerSecond);
    await requireEndpoint(pool, key);
    const { events, more } = await previewReplay(pool, key.endpointId, range, MAX_EVENTS_COUNTED);
    const replay = { range, ratePerSecond, eventsAtStart: events, moreAtStart: more, startedBy: principal.email };
    const replayId = await inTransaction(pool, async (client) => {
      const result = await startReplay(client, key, replay, now);
      if (typeof result === "string") throw refusal(result);
      await auditReplay(client, result.replayId, { principal, at: now, action: "replay.start" });
      return result.replayId;
    });
    replayWakeUp.signal();
    return { replayId: BigInt(replayId) };
  },

  async getReplay({ pool, now }, { replayId }, call) {
    const row = await findReplay(pool, replayKey(principalOf(call), replayId));
    if (!row) throw noSuchReplay();
    return { replay: toReplay(row, now()) };
  },

  async listReplays({ pool, ...context }, request, call) {
    const principal = principalOf(call);
    const limit = pageSize(request.pageSize);
    const before = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.number })?.before;
    const key = request.endpointId === 0n ? undefined : endpointKey(principal, request.endpointId);
    if (key) await requireEndpoint(pool, key);
    const rows = await listReplays(pool, {
      workspaceId: principal.workspaceId,
      limit: limit + 1,
      ...(key && { endpointId: key.endpointId }),
      ...(before !== undefined && { before: Number(before) }),
    });
    const now = context.now();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      replays: page.map((row) => toReplay(row, now)),
      nextPageToken: rows.length > limit && last ? nextPageToken({ before: String(last.id) }) : "",
    };
  },

  async cancelReplay({ pool, queuePool, queue, announceWork, now }, request, call) {
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
  },
} satisfies Handlers<Context, typeof ReplayService>;

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
