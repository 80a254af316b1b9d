import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type WorkspaceEvent,
  WorkspaceEventBatchSchema,
  WorkspaceEventSchema,
} from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { testNats } from "@toolgate/testbed/servers";
import { testDatabase } from "@toolgate/testbed/test-database";
import { type Bus, connectBus } from "../src/connect.ts";
import { consumeBatches } from "../src/consume.ts";
import { createOutbox, type Outbox, reportSettled } from "../src/outbox.ts";
import { ensureStreams } from "../src/streams.ts";

export const SOURCE = "source";

export function event(eventId: string, dataJson = "{}", created = new Date()): WorkspaceEvent {
  return create(WorkspaceEventSchema, { eventId, dataJson, created: BigInt(Math.floor(created.getTime() / 1000)) });
}

/** A broker, a database and an outbox on them, with a receiver of its events. */
export async function outboxRig() {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await testNats());
  const database = resources.use(await testDatabase());
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 5, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  await pool.query(`create schema source;
    create table source.outbox (event_id text primary key, event bytea not null, publish_after timestamptz not null)`);
  const errors: unknown[] = [];
  const bus = resources.use(await connectBus({ servers: server.url, name: "test" }));
  await ensureStreams(bus);
  const owned = resources.move();
  const outboxOn = (on: Bus, through: Pool = pool): Outbox =>
    owned.use(
      createOutbox({
        pool: through,
        schema: "source",
        bus: on,
        source: SOURCE,
        onError: (error) => errors.push(error),
      }),
    );
  return {
    server,
    database,
    pool,
    bus,
    errors,
    outboxOn,
    outbox: outboxOn(bus),
    /** Receives until the rig is disposed; what arrived is in the list, which grows. */
    receive(settle: boolean): string[] {
      const received: string[] = [];
      const stop = new AbortController();
      const done = consumeBatches({
        bus,
        stream: "EVENTS",
        durable: "receiver",
        filterSubject: "events.>",
        maxMessages: 10,
        ackWaitMs: 5_000,
        maxAckPending: 100,
        signal: stop.signal,
        onError: (error) => errors.push(error),
        async handle(messages) {
          for (const { data, subject } of messages) {
            const ids = fromBinary(WorkspaceEventBatchSchema, data).events.map((one) => one.eventId);
            received.push(...ids);
            if (settle) reportSettled(bus, subject, ids);
          }
        },
      });
      owned.defer(async () => {
        stop.abort();
        await done;
      });
      return received;
    },
    async rows(): Promise<string[]> {
      return (await pool.query("select event_id from source.outbox order by 1")).rows.map((row) => row.event_id);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
