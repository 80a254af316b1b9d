import { createHash } from "node:crypto";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { cacheLookups } from "@toolgate/telemetry/instruments";
import { LRUCache } from "lru-cache";
import { entityTag } from "../../domain/entity-tag.ts";
import { createSharedWork } from "./shared-work.ts";

export interface CachedDescription {
  body: Buffer;
  tag: string;
}

/**
 * Documents made for keys, for as long as neither the workspace nor the key's list of tools changes; who asks for the
 * same one at once shares its making. While nobody knows the workspace's epoch none is kept.
 */
export interface DescriptionCache {
  /** `variant`: what else the document depends on. Never what a caller may choose. */
  get(key: KeyVerdict, variant: string, make: () => Promise<string>): Promise<CachedDescription>;
}

const MAX_BYTES = 32 * 1024 * 1024;
/** Bounds what a change that was never announced can leave behind. */
const RELOAD_AFTER_MS = 30_000;
/** What a verdict says whose epoch nobody could ask for. */
const UNKNOWN_EPOCH = 0n;

export function createDescriptionCache(now: () => number): DescriptionCache {
  const cache = new LRUCache<string, CachedDescription>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }) => body.byteLength + 1,
    ttl: RELOAD_AFTER_MS,
    ttlResolution: 0,
    perf: { now },
  });
  const making = createSharedWork<CachedDescription>();
  return {
    async get(key, variant, make) {
      const name = nameOf(key, variant);
      const makeCached = async () => {
        const body = Buffer.from(await make());
        return { body, tag: entityTag(body) };
      };
      if (key.workspaceEpoch === UNKNOWN_EPOCH) return making.joinLater(name, makeCached);
      const cached = cache.get(name);
      cacheLookups.add(1, { cache: "descriptions", result: cached ? "hit" : "miss" });
      if (cached) return cached;
      return making.join(name, async () => {
        const made = await makeCached();
        cache.set(name, made);
        return made;
      });
    },
  };
}

function nameOf({ workspaceId, workspaceEpoch, tools }: KeyVerdict, variant: string): string {
  const parts = JSON.stringify([workspaceId, String(workspaceEpoch), variant, tools]);
  return createHash("sha256").update(parts).digest("base64");
}
