import { createHash } from "node:crypto";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { cacheLookups } from "@toolgate/telemetry/instruments";
import { LRUCache } from "lru-cache";
import { entityTag } from "../../domain/entity-tag.ts";

export interface CachedDescription {
  body: Buffer;
  tag: string;
}

/**
 * Caches documents made for keys until the workspace or the key's list of tools changes. Simultaneous requests for the
 * same document share the work. Without the workspace's epoch nothing is cached.
 */
export interface DescriptionCache {
  /**
   * `variant`: what the document depends on in addition to the key. Never a value that callers choose, or they could
   * fill the cache.
   */
  get(key: KeyVerdict, variant: string, make: () => Promise<string>): Promise<CachedDescription>;
}

const MAX_BYTES = 32 * 1024 * 1024;
/** Limits how long a change stays unseen if its epoch was never raised. */
const RELOAD_AFTER_MS = 30_000;
/** The epoch in a verdict when it could not be read. */
const UNKNOWN_EPOCH = 0n;

export function createDescriptionCache(now: () => number): DescriptionCache {
  const cache = new LRUCache<string, CachedDescription, () => Promise<string>>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }) => body.byteLength + 1,
    ttl: RELOAD_AFTER_MS,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: (_name, _stale, { context: make }) => description(make),
    // A document that is evicted while it is being made still reaches the requests that wait for it.
    ignoreFetchAbort: true,
  });
  const shareNext = createNextRun<CachedDescription>();
  return {
    async get(key, variant, make) {
      const name = nameOf(key, variant);
      if (key.workspaceEpoch === UNKNOWN_EPOCH) return shareNext(name, () => description(make));
      const cached = cache.get(name);
      cacheLookups.add(1, { cache: "descriptions", result: cached ? "hit" : "miss" });
      return cached ?? cache.forceFetch(name, { context: make });
    },
  };
}

/**
 * Lets callers share a computation, but only one that started after their request. For each name at most one computation
 * is under way and one is waiting.
 */
function createNextRun<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  const waiting = new Map<string, Promise<T>>();
  return (name, work) => {
    const joined = waiting.get(name);
    if (joined) return joined;
    const start = () => {
      waiting.delete(name);
      const run = work().finally(() => running.delete(name));
      running.set(name, run);
      return run;
    };
    const next = (running.get(name) ?? Promise.resolve()).then(start, start);
    waiting.set(name, next);
    return next;
  };
}

async function description(make: () => Promise<string>): Promise<CachedDescription> {
  const body = Buffer.from(await make());
  return { body, tag: entityTag(body) };
}

function nameOf({ workspaceId, workspaceEpoch, tools }: KeyVerdict, variant: string): string {
  const parts = JSON.stringify([workspaceId, String(workspaceEpoch), variant, tools]);
  return createHash("sha256").update(parts).digest("base64");
}
