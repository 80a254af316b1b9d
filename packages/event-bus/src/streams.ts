import { DiscardPolicy, JetStreamApiCodes, JetStreamApiError, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { type Bus, unlessDisconnected } from "./connect.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MS_IN_NS = 1_000_000;

/**
 * The streams. Each message is removed once its one consumer has acknowledged it. A full stream refuses new messages
 * instead of dropping old ones: the sender keeps them or reports the failure. A broker that crashed may keep messages
 * that were acknowledged and give them to nobody (seen with 2.9.10); they go by age, which nothing in use reaches.
 */
export const STREAMS = {
  /** Usage and execution records on their way to Postgres. */
  RECORDS: { subjects: ["records.>"], maxBytes: 2 * 1024 ** 3, maxAgeMs: 7 * DAY_MS },
  /** Events on their way to the fan-out. */
  EVENTS: { subjects: ["events.>"], maxBytes: 1024 ** 3, maxAgeMs: DAY_MS },
  /** Attempts on their way to workers, and their results on the way back. */
  ATTEMPTS: { subjects: ["attempts.>"], maxBytes: 1024 ** 3, maxAgeMs: HOUR_MS },
} as const;

export type StreamName = keyof typeof STREAMS;

/**
 * Makes one stream if it is missing (a new or a wiped broker). `replicas` is the broker's copies of each message. Rejects
 * within seconds while the broker is away.
 */
export async function ensureStream(bus: Bus, name: StreamName, replicas = bus.streamReplicas): Promise<void> {
  const found = await unlessDisconnected(bus, () => bus.jsm.streams.info(name)).catch((error: unknown) => {
    if (isStreamNotFound(error)) return undefined;
    throw error;
  });
  if (found) return;
  const { subjects, maxBytes, maxAgeMs } = STREAMS[name];
  const config = {
    name,
    subjects: [...subjects],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
    max_age: maxAgeMs * MS_IN_NS,
    num_replicas: replicas,
  };
  await unlessDisconnected(bus, () => bus.jsm.streams.add(config));
}

/** The broker's answer when it has no such stream. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
}

/** Makes all streams that are missing. Safe to repeat and to run on several replicas at once. */
export async function ensureStreams(bus: Bus, replicas = bus.streamReplicas): Promise<void> {
  for (const name of Object.keys(STREAMS) as StreamName[]) await ensureStream(bus, name, replicas);
}

/** The stream that stores a subject. Throws for a subject that none stores. */
export function streamOf(subject: string): StreamName {
  const prefix = `${subject.split(".")[0]}.>`;
  for (const [name, { subjects }] of Object.entries(STREAMS)) {
    if ((subjects as readonly string[]).includes(prefix)) return name as StreamName;
  }
  throw new Error(`no stream stores the subject ${subject}`);
}
