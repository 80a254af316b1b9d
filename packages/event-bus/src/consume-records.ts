import type { Pool } from "@toolgate/postgres/pool";
import { type ConsumeBatchesOptions, consumeBatches } from "./consume.ts";
import { type ParkedMessage, parkMessages } from "./parked-messages.ts";
import { streamOf } from "./streams.ts";
import { writeAccepted } from "./write-accepted.ts";

/** What every consumer of records is given. */
export type RecordConsumer = Pick<ConsumeBatchesOptions, "bus" | "signal" | "onError"> & { pool: Pool };

interface ConsumeRecordsOptions<Item> extends RecordConsumer {
  durable: string;
  filterSubject: string;
  /** The schema in Postgres of the table `parked_message`; see `parkMessages`. */
  schema: string;
  /** The records in one message. */
  decode: (data: Uint8Array) => Item[];
  /** A message with one record. */
  encode: (record: Item) => Uint8Array;
  /** Writes records to Postgres; may see a record more than once. */
  write: (records: Item[]) => Promise<void>;
  /** What is done with records before they are parked; until this succeeds, their message is sent again. */
  beforeParking?: (records: Item[]) => Promise<void>;
}

const MAX_MESSAGES = 128;
const ACK_WAIT_MS = 30_000;
/** The broker has already stored the records, and larger batches cost Postgres far less. */
const EVERY_MS = 500;
const MAX_ACK_PENDING = 1_000;

/**
 * `consumeBatches` with the limits for log records: up to 128 messages at a time, and if they keep coming, every 500 ms,
 * as nobody waits for the write. Writing a record twice must have the same effect as once: after a restart of the broker
 * or of a replica, unacknowledged records are delivered again immediately. Records whose own data Postgres refuses are
 * parked, each as a message of its own, as are messages that cannot be decoded; the others are written.
 */
export function consumeRecords<Item>(options: ConsumeRecordsOptions<Item>): Promise<void> {
  const { pool, schema, decode, encode, write, beforeParking, ...consumer } = options;
  const { filterSubject: subject, onError } = consumer;
  return consumeBatches({
    ...consumer,
    stream: streamOf(subject),
    maxMessages: MAX_MESSAGES,
    ackWaitMs: ACK_WAIT_MS,
    everyMs: EVERY_MS,
    maxAckPending: MAX_ACK_PENDING,
    remakeAfterBreak: true,
    async handle(messages) {
      const records: Item[] = [];
      const parked: ParkedMessage[] = [];
      for (const { data } of messages) {
        try {
          records.push(...decode(data));
        } catch (error) {
          parked.push({ subject, reason: (error as Error).message, payload: data });
        }
      }
      const refused = await writeAccepted(records, write);
      if (refused.length > 0) await beforeParking?.(refused.map(({ item }) => item));
      parked.push(...refused.map(({ item, reason }) => ({ subject, reason, payload: encode(item) })));
      if (parked.length === 0) return;
      await parkMessages(pool, schema, parked, new Date());
      onError(new Error(`${parked.length} records of ${subject} parked, the first because: ${parked[0]?.reason}`));
    },
  });
}
