import { setTimeout as sleep } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type WorkspaceEvent,
  WorkspaceEventBatchSchema,
  WorkspaceEventSchema,
} from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { measureQueue } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import { MAX_MESSAGE_BYTES, publishDurably } from "./batching-publisher.ts";
import type { Bus } from "./connect.ts";
import { createGroupCommit } from "./group-commit.ts";
import { inParts } from "./in-parts.ts";
import { claimDue, deleteRows, insertRows, type OutboxRow } from "./outbox-rows.ts";
import { receiveSettledNotices } from "./settled-notices.ts";

/**
 * Events that a service must not lose, kept in its own Postgres schema until a settled notice says that the fan-out has
 * them. An accepted event thus survives a crash at any point, and a wiped broker.
 */
export interface Outbox extends AsyncDisposable {
  /**
   * Resolves once the event is committed; events of one tick share the commit. Publishing follows in the background.
   * Rejects an event of more than 900 KiB, which is too large for the broker.
   */
  add(event: WorkspaceEvent): Promise<void>;
  /**
   * Publishes events that were not settled in time again, unless the broker is down. Returns how many there were; run in a
   * loop by `runOutboxSweeper`.
   */
  sweep(now: Date): Promise<number>;
}

interface OutboxOptions {
  pool: Pool;
  /**
   * Schema of the table `outbox (event_id text primary key, event bytea, accepted_at timestamptz, publish_after
   * timestamptz)`.
   */
  schema: string;
  bus: Bus;
  /** The service's name: subjects are events.<source> and settled.<source>. */
  source: string;
  onError: (error: unknown) => void;
}

const PUBLISH_DEADLINE_MS = 5_000;
/** The events of one message. */
const MESSAGE = { maxItems: 200, maxBytes: MAX_MESSAGE_BYTES };
const MAX_EVENT_BYTES = 900 * 1024;
/** Messages that may wait for a broker that is down; the sweeper publishes the rest. */
const MAX_PUBLISHING = 32;

/** See `Outbox`. Disposing commits the events that were added, and waits at most 5 s for the broker to store them. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { pool, schema, bus, source, onError } = options;
  const publishing = new Set<Promise<void>>();

  const publish = (rows: OutboxRow[]) =>
    publishDurably(bus, `events.${source}`, encodeBatch(rows), PUBLISH_DEADLINE_MS).catch(onError);

  /** Not awaited: the events are committed, and the sweeper publishes what fails here. */
  function publishSoon(rows: OutboxRow[]): void {
    if (publishing.size >= MAX_PUBLISHING) return;
    const sent = publish(rows).finally(() => publishing.delete(sent));
    publishing.add(sent);
  }

  const group = createGroupCommit<OutboxRow>({
    ...MESSAGE,
    sizeOf: (row) => row.bytes.length,
    async commit(rows) {
      await insertRows(pool, schema, rows, new Date());
      publishSoon(rows);
    },
  });
  const measure = measureQueue(pool, { queue: `${schema}.outbox`, table: `${schema}.outbox`, due: "publish_after" });
  const settle = (eventIds: readonly string[]) => deleteRows(pool, schema, eventIds);
  const settled = receiveSettledNotices({ bus, source, settle, onError });
  return {
    async add(event) {
      const bytes = toBinary(WorkspaceEventSchema, event);
      if (bytes.length > MAX_EVENT_BYTES)
        throw new RangeError(`event ${event.eventId} is too large: ${bytes.length} bytes`);
      await group.add({ eventId: event.eventId, bytes });
    },
    async sweep(now) {
      if (!bus.isConnected()) return 0;
      const rows = await claimDue(pool, schema, now);
      for (const part of inParts(rows, ({ bytes }) => bytes.length, MESSAGE))
        if (bus.isConnected()) await publish(part);
      return rows.length;
    },
    async [Symbol.asyncDispose]() {
      measure[Symbol.dispose]();
      await group[Symbol.asyncDispose]();
      await Promise.all(publishing);
      await settled[Symbol.asyncDispose]();
    },
  };
}

/** A WorkspaceEventBatch of encoded events. */
function encodeBatch(rows: OutboxRow[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { bytes } of rows)
    writer.tag(WorkspaceEventBatchSchema.field.events.number, WireType.LengthDelimited).bytes(bytes);
  return writer.finish();
}

const SWEEP_EVERY_MS = 5_000;

/** Sweeps until the signal fires. */
export async function runOutboxSweeper(
  outbox: Outbox,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    const swept = await outbox.sweep(new Date()).catch((error: unknown) => {
      onError(error);
      return 0;
    });
    if (swept === 0) await sleep(SWEEP_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}
