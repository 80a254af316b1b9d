import { DiscardPolicy, JetStreamApiCodes, JetStreamApiError, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { type Bus, unlessDisconnected } from "./connect.ts";

const HOUR_NS = 3_600 * 1_000_000_000;
const DAY_NS = 24 * HOUR_NS;
const GIB = 1024 ** 3;
/** Part of a stream's largest size. */
const NEARLY_FULL = 0.9;

/**
 * Each message has one consumer and is removed once it has been acknowledged. A full stream refuses messages, and the
 * sender keeps them.
 */
const WORK_QUEUE = {
  storage: StorageType.File,
  retention: RetentionPolicy.Workqueue,
  discard: DiscardPolicy.New,
  max_bytes: GIB,
};

/**
 * A broker that crashed may keep acknowledged messages without ever delivering them again (seen with 2.9.10).
 * `max_age` removes them; no message that is still needed gets that old.
 */
const STREAMS = {
  /**
   * Call records on their way to Postgres. Not part of RECORDS, into which their consumer publishes: a full stream from which
   * a message goes only after another has come would stay full.
   */
  CALLS: { ...WORK_QUEUE, subjects: ["calls.>"], max_age: 7 * DAY_NS },
  /** Usage, execution and audit records on their way to Postgres. */
  RECORDS: { ...WORK_QUEUE, subjects: ["records.>"], max_age: 7 * DAY_NS },
  /**
   * Events on their way to the fan-out. The stream never blocks: when full it drops the oldest events, which their outbox
   * publishes again.
   */
  EVENTS: {
    subjects: ["events.>"],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_bytes: GIB / 2,
    max_age: HOUR_NS,
  },
  /** Attempts on their way to workers, and their results on the way back. */
  ATTEMPTS: { ...WORK_QUEUE, subjects: ["attempts.>"], max_age: HOUR_NS },
};

export type StreamName = keyof typeof STREAMS;

/**
 * Creates one stream if it is missing (a new or a wiped broker), with the copies that the bus asks for. Rejects within
 * seconds while the broker is down.
 */
export async function ensureStream(bus: Bus, name: StreamName): Promise<void> {
  const found = await unlessDisconnected(bus, () => bus.jsm.streams.info(name)).catch(undefinedIfMissing);
  if (found) return;
  const config = { name, ...STREAMS[name], num_replicas: bus.streamReplicas };
  await unlessDisconnected(bus, () => bus.jsm.streams.add(config));
}

/** What is wrong with a stream, in words; nothing if it is as this version makes it. Rejects while the broker is down. */
export async function streamFaults(bus: Bus, name: StreamName): Promise<string[]> {
  const found = await unlessDisconnected(bus, () => bus.jsm.streams.info(name)).catch(undefinedIfMissing);
  if (!found) return ["does not exist"];
  const { subjects, ...settings } = STREAMS[name];
  const wanted: Record<string, unknown> = { subjects: subjects.join(", "), ...settings };
  const actual: Record<string, unknown> = { ...found.config, subjects: found.config.subjects.join(", ") };
  const faults = Object.keys(wanted)
    .filter((key) => actual[key] !== wanted[key])
    .map((key) => `has ${key} ${actual[key]} instead of ${wanted[key]}`);
  if (settings.discard === DiscardPolicy.New && found.state.bytes > settings.max_bytes * NEARLY_FULL)
    faults.push(`is nearly full (${found.state.messages} messages) and will refuse more`);
  return faults;
}

export function isStreamName(name: string): name is StreamName {
  return Object.hasOwn(STREAMS, name);
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isStreamNotFound(error)) throw error;
}

/** Whether the broker's error says that the stream does not exist. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
}

/** Creates all streams that are missing. Safe to repeat and to run on several replicas at the same time. */
export async function ensureStreams(bus: Bus): Promise<void> {
  for (const name of Object.keys(STREAMS) as StreamName[]) await ensureStream(bus, name);
}

/** The stream that stores a subject. Throws when no stream stores it. */
export function streamOf(subject: string): StreamName {
  const prefix = `${subject.split(".")[0]}.>`;
  for (const [name, { subjects }] of Object.entries(STREAMS)) {
    if (subjects.includes(prefix)) return name as StreamName;
  }
  throw new Error(`no stream stores the subject ${subject}`);
}
