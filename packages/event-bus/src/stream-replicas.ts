import { setTimeout as sleep } from "node:timers/promises";
import { JetStreamApiError } from "@nats-io/jetstream";
import { PermissionViolationError } from "@nats-io/transport-node";
import { type Bus, unlessDisconnected } from "./connect.ts";
import { ensureStream, type StreamName } from "./streams.ts";

/** Time for servers that start at the same time to find each other, and to choose leaders. */
const DEADLINE_MS = 15_000;
const RETRY_WAIT_MS = 250;
/** A server that is in no cluster never keeps more than one copy. */
const NOT_CLUSTERED = 10074;
/** Too few servers respond, or have room. */
const NO_PLACE = new Set([10005, 10023]);

/**
 * Sees to it, when a service starts, that streams have the copies that the bus asks for: creates missing streams, and raises
 * the copies of those in `kept`. Never lowers them, so that processes with different settings do not undo each other's.
 * Throws an error for operators if NATS cannot keep that many, after 15 s if waiting might help. With one copy it does
 * nothing.
 */
export async function ensureReplicas(
  bus: Bus,
  streams: readonly StreamName[],
  kept: readonly StreamName[],
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  if (bus.streamReplicas === 1) return;
  const deadlineAtMs = performance.now() + deadlineMs;
  for (const name of streams) {
    for (;;) {
      try {
        await ensureStream(bus, name);
        if (kept.includes(name)) await raise(bus, name);
        break;
      } catch (error) {
        if (isFinal(error) || performance.now() + RETRY_WAIT_MS >= deadlineAtMs)
          throw new Error(`NATS cannot keep ${bus.streamReplicas} copies of the stream ${name}: ${reason(error)}`, {
            cause: error,
          });
        await sleep(RETRY_WAIT_MS);
      }
    }
  }
}

async function raise(bus: Bus, name: StreamName): Promise<void> {
  const { config } = await unlessDisconnected(bus, () => bus.jsm.streams.info(name));
  if (config.num_replicas >= bus.streamReplicas) return;
  await unlessDisconnected(bus, () => bus.jsm.streams.update(name, { num_replicas: bus.streamReplicas }));
}

/** The server refused the login a subject; the client's error for a request has it as its cause. */
function refusalIn(error: unknown): PermissionViolationError | undefined {
  const { cause } = error as Error;
  return [error, cause].find((found) => found instanceof PermissionViolationError);
}

function isFinal(error: unknown): boolean {
  const isOutsideCluster = error instanceof JetStreamApiError && error.code === NOT_CLUSTERED;
  return isOutsideCluster || refusalIn(error) !== undefined;
}

function reason(error: unknown): string {
  const refusal = refusalIn(error);
  if (refusal) return `this login may not use ${refusal.subject}; give the server the current nats-users.conf`;
  const { message } = error as Error;
  if (!(error instanceof JetStreamApiError)) return message;
  if (error.code === NOT_CLUSTERED) return "the server is in no cluster; set NATS_STREAM_REPLICAS to 1";
  return NO_PLACE.has(error.code) ? `too few servers of its cluster are up or have room (${message})` : message;
}
