import { isDataError } from "@toolgate/postgres/data-error";
import type { Pool } from "@toolgate/postgres/pool";
import { type ConsumeBatchesOptions, consumeBatches } from "./consume.ts";
import { parkMessages } from "./parked-messages.ts";
import { streamOf } from "./streams.ts";

/** What every consumer of records is given. */
export type RecordConsumer = Pick<ConsumeBatchesOptions, "bus" | "signal" | "onError"> & { pool: Pool };

interface ConsumeRecordsOptions<Item> extends RecordConsumer {
  durable: string;
  filterSubject: string;
  /** The schema in Postgres of the table `parked_message`; see `parkMessages`. */
  schema: string;
  /** The records in one message. */
  decode: (data: Uint8Array) => Item[];
  /** Writes records to Postgres; may see a record more than once. */
  write: (records: Item[]) => Promise<void>;
  /** What is done with the records of a message before it is parked; until this succeeds, it is sent again. */
  beforeParking?: (records: Item[]) => Promise<void>;
}

const MAX_MESSAGES = 128;
const ACK_WAIT_MS = 30_000;
/** The broker has already stored the records, and larger batches cost Postgres far less. */
const EVERY_MS = 100;
const MAX_ACK_PENDING = 1_000;

/**
 * `consumeBatches` with the limits for log records: up to 128 messages at a time, and if they keep coming, every 100 ms,
 * as nobody waits for the write. Writing a record twice must have the same effect as once: after a restart of the broker
 * or of a replica, unacknowledged records are delivered again immediately. A message is parked if Postgres always refuses
 * the data of its records.
 */
export function consumeRecords<Item>(options: ConsumeRecordsOptions<Item>): Promise<void> {
  const { pool, schema, decode, write, beforeParking, ...consumer } = options;
  return consumeBatches({
    ...consumer,
    stream: streamOf(consumer.filterSubject),
    maxMessages: MAX_MESSAGES,
    ackWaitMs: ACK_WAIT_MS,
    everyMs: EVERY_MS,
    maxAckPending: MAX_ACK_PENDING,
    remakeAfterBreak: true,
    parking: {
      isPermanent: isDataError,
      async park(message) {
        await beforeParking?.(decode(message.payload));
        await parkMessages(pool, schema, [message], new Date());
      },
    },
    handle: (messages) => write(messages.flatMap(({ data }) => decode(data))),
  });
}
