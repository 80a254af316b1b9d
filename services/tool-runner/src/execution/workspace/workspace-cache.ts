import { createEpochCache, type EpochCacheOptions } from "@toolgate/epoch/cache";

export type CacheSource = Pick<EpochCacheOptions<bigint, unknown>, "redis" | "now">;

/** Caches what workspaces have saved, by the workspace's epoch. Epoch 0 means that it is unknown. */
export function createWorkspaceCache<T>(
  { redis, now }: CacheSource,
  size: Pick<EpochCacheOptions<bigint, T>, "name" | "maxEntries" | "maxBytes" | "sizeOf">,
) {
  const isCurrent = (cached: bigint, wanted: bigint) => cached >= wanted;
  const cache = createEpochCache<bigint, T>({ redis, now, isCurrent, ...size });
  return {
    get: (key: string, epoch: bigint, load: () => Promise<T>) => cache.get(key, epoch === 0n ? undefined : epoch, load),
  };
}
