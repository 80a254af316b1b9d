import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type WorkspaceEvent,
  WorkspaceEventBatchSchema,
  WorkspaceEventSchema,
} from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { createPool } from "@toolgate/postgres/pool";
import { testNats } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { type Bus, connectBus } from "../src/connect.ts";
import { consumeBatches } from "../src/consume.ts";
import { createOutbox, type Outbox } from "../src/outbox.ts";
import { createSettledNotices } from "../src/settled-notices.ts";
import { ensureStreams } from "../src/streams.ts";

export const SOURCE = "source";

export function event(eventId: string, dataJson = "{}"): WorkspaceEvent {
  return create(WorkspaceEventSchema, { eventId, workspaceId: "w", dataJson });
}

/** A broker, a database and an outbox on them. */
export async function outboxRig() {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await testNats());
  const database = resources.use(await testDatabase());
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 5, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  await pool.query(`create schema source;
    create table source.outbox (event_id text primary key, event bytea not null, accepted_at timestamptz not null,
      publish_after timestamptz not null)`);
  const errors: unknown[] = [];
  const bus = resources.use(await connectBus({ servers: server.url, name: "test" }));
  await ensureStreams(bus);
  const owned = resources.move();
  const outboxOn = (on: Bus): Outbox =>
    owned.use(
      createOutbox({ pool, schema: "source", bus: on, source: SOURCE, onError: (error) => errors.push(error) }),
    );
  /** Receives until the rig is disposed. Returns the list of the events, which grows. */
  function receive(settle: boolean): string[] {
    const received: string[] = [];
    const stopping = new AbortController();
    const notices = createSettledNotices(bus);
    const done = consumeBatches({
      bus,
      stream: "EVENTS",
      durable: "receiver",
      filterSubject: "events.>",
      maxMessages: 10,
      ackWaitMs: 5_000,
      maxAckPending: 100,
      signal: stopping.signal,
      onError: (error) => errors.push(error),
      async handle(messages) {
        for (const { data, subject } of messages) {
          const eventIds = fromBinary(WorkspaceEventBatchSchema, data).events.map((one) => one.eventId);
          received.push(...eventIds);
          if (settle) for (const eventId of eventIds) notices.note(subject, eventId);
        }
      },
    });
    owned.defer(async () => {
      stopping.abort();
      await done;
      notices[Symbol.dispose]();
    });
    return received;
  }
  return {
    server,
    database,
    pool,
    bus,
    errors,
    outboxOn,
    outbox: outboxOn(bus),
    receive,
    async rows(): Promise<string[]> {
      return (await pool.query("select event_id from source.outbox order by 1")).rows.map((row) => row.event_id);
    },
    settle(eventId: string): void {
      using notices = createSettledNotices(bus);
      notices.note(`events.${SOURCE}`, eventId);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
