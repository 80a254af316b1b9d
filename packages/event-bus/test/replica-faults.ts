import { type Bus, unlessDisconnected } from "../src/connect.ts";
import { isStreamNotFound, type StreamName } from "../src/streams.ts";

/** What is wrong with the copies of a stream, in words; nothing if it is missing. Rejects while the broker is down. */
export async function replicaFaults(bus: Bus, name: StreamName): Promise<string[]> {
  const found = await unlessDisconnected(bus, () => bus.jsm.streams.info(name)).catch((error: unknown) => {
    if (!isStreamNotFound(error)) throw error;
  });
  if (!found) return [];
  const { config, cluster } = found;
  const few =
    config.num_replicas < bus.streamReplicas
      ? [
          `has ${config.num_replicas === 1 ? "1 copy" : `${config.num_replicas} copies`} instead of ${bus.streamReplicas}`,
        ]
      : [];
  const broken = (cluster?.replicas ?? [])
    .filter(({ offline, current }) => offline || !current)
    .map((copy) => `has a copy on ${copy.name} that is not up to date`);
  return [...few, ...broken];
}
