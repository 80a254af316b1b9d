import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { type Replay, type ReplayService, ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { eventually } from "@toolgate/testbed/eventually";
import { deliveryQueue } from "../../src/store/queue.ts";
import { type ReplayStep, stepReplay } from "../../src/store/replay/steps.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });
/** Twice the slots of an endpoint. */
export const MAX_DUE = 4;

interface MadeDelivery {
  id: string;
  event_id: string;
  kind: string;
  status: string;
}

/** A service that delivers nothing yet, and the endpoint `/w` of the workspace `w` that has missed events. */
export interface ReplayScene extends AsyncDisposable {
  rig: OutboundRig;
  client(workspaceId?: string): Client<typeof ReplayService>;
  setActive(endpointId: bigint, active: boolean): Promise<unknown>;
  /** How many events the endpoint has missed. */
  undelivered(): Promise<number | undefined>;
  /** Makes the endpoint, with this many undelivered events, a second apart. */
  backlog(count: number): Promise<{ id: bigint; eventIds: string[] }>;
  wholeRange(): object & { from: ReturnType<typeof timestampFromDate> };
  start(endpointId: bigint, options?: object): Promise<bigint>;
  get(replayId: bigint): Promise<Replay | undefined>;
  done(replayId: bigint): Promise<Replay | undefined>;
  /** The steps of another replica. */
  replica(): { step(now: Date): Promise<ReplayStep> };
  deliveries(): Promise<MadeDelivery[]>;
}

export function eventsOf(requests: readonly { body: Buffer }[]): string[] {
  return requests.map((request) => JSON.parse(String(request.body)).id);
}

export async function startReplayScene(): Promise<ReplayScene> {
  const resources = new AsyncDisposableStack();
  const rig = resources.use(await startOutboundRig({ instances: [["manager", "fan-out"]] }));
  const client = (workspaceId = "w") => rig.replays({ workspaceId, email: "mia@acme.example" });
  const setActive = (endpointId: bigint, active: boolean) =>
    rig.endpoints({ workspaceId: "w" }).updateEndpoint({ endpointId, active });
  const undelivered = async () => (await rig.undelivered({ workspaceId: "w" }).countUndelivered({})).counts[0]?.events;
  const wholeRange = () => ({ from: timestampFromDate(new Date(rig.clock.now().getTime() - 60 * MINUTE_MS)) });
  const get = async (replayId: bigint) => (await client().getReplay({ replayId })).replay;
  return {
    rig,
    client,
    setActive,
    undelivered,
    async backlog(count) {
      const { id } = await rig.register("w", "/w");
      await setActive(id, false);
      const start = rig.clock.now().getTime() - count * SECOND_MS - MINUTE_MS;
      const events = Array.from({ length: count }, (_, index) =>
        newEvent({ workspaceId: "w" }, new Date(start + index * SECOND_MS)),
      );
      await rig.reportMany(events);
      await eventually(async () => (await undelivered()) === count);
      await setActive(id, true);
      return { id, eventIds: events.map((event) => event.eventId) };
    },
    wholeRange,
    start: async (endpointId, options = {}) =>
      (await client().startReplay({ endpointId, range: wholeRange(), ratePerSecond: 100, ...options })).replayId,
    get,
    done: (replayId) =>
      eventually(async () => {
        const replay = await get(replayId);
        return replay?.state === ReplayState.DONE && replay;
      }),
    replica() {
      const { databaseUrl = "" } = rig.config.core ?? {};
      const pool = createPipelinePool({ url: databaseUrl, maxConnections: 1, applicationName: "replica" });
      resources.defer(() => pool.end());
      return { step: (now) => stepReplay(pool, QUEUE, now) };
    },
    async deliveries() {
      const { rows } = await rig.pool.query(
        "select id, event_id, kind, status from outbound_webhook.delivery order by created_at, id",
      );
      return rows;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
