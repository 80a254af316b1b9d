import { createHash } from "node:crypto";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { Slots } from "@toolgate/slots/slots";
import { cacheLookups } from "@toolgate/telemetry/instruments";
import { LRUCache } from "lru-cache";
import { type Described, type DescribeTools, DescriptionTooLarge } from "../../clients/tool-descriptions.ts";
import { entityTag } from "../../domain/entity-tag.ts";

export interface CachedDescription {
  body: Buffer;
  tag: string;
}

/** How a document is written, from what tool-runner tells about the tools of a key. */
export type WriteDescription = (described: Described) => string;

/**
 * Makes documents for keys, and caches them until the workspace or the key's list of tools changes. Simultaneous requests for
 * the same document share the work. Without the workspace's epoch nothing is cached.
 */
export interface DescriptionCache {
  /**
   * `variant`: what the document depends on in addition to the key. Never a value that callers choose, or they could
   * fill the cache. Fails with `DescriptionTooLarge`, or with `TooManyDescriptions` when too many wait to be made.
   */
  get(key: KeyVerdict, variant: string, write: WriteDescription): Promise<CachedDescription>;
}

/** What is known about a document. Also that there is none, or each request would read all its tools again. */
type Made = CachedDescription | "too large";

const MAX_BYTES = 32 * 1024 * 1024;
/** Of one document: twice what tool-runner tells about the tools of a key at most. */
const MAX_DOCUMENT_BYTES = 6 * 1024 * 1024;
/** Limits how long a change stays unseen if its epoch was never raised. */
const RELOAD_AFTER_MS = 30_000;
/** The epoch in a verdict when it could not be read. */
const UNKNOWN_EPOCH = 0n;

/** Too many documents of the workspace wait to be made. */
export class TooManyDescriptions extends Error {}

export function createDescriptionCache(
  describeTools: DescribeTools,
  { builds, now }: { builds: Slots; now: () => number },
): DescriptionCache {
  const cache = new LRUCache<string, Made, () => Promise<Made>>({
    maxSize: MAX_BYTES,
    sizeCalculation: (made) => (made === "too large" ? 1 : made.body.byteLength + 1),
    ttl: RELOAD_AFTER_MS,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: (_name, _stale, { context: make }) => make(),
    // A document that is evicted while it is being made still reaches the requests that wait for it.
    ignoreFetchAbort: true,
  });
  async function find(key: KeyVerdict, variant: string, write: WriteDescription): Promise<Made> {
    const make = () => build(key, write);
    if (key.workspaceEpoch === UNKNOWN_EPOCH) return make();
    const name = nameOf(key, variant);
    const cached = cache.get(name);
    cacheLookups.add(1, { cache: "descriptions", result: cached ? "hit" : "miss" });
    return cached ?? cache.forceFetch(name, { context: make });
  }
  async function build(key: KeyVerdict, write: WriteDescription): Promise<Made> {
    using slot = await builds.take(key.workspaceId);
    if (!slot) throw new TooManyDescriptions();
    try {
      const body = Buffer.from(write(await describeTools(key)));
      if (body.byteLength <= MAX_DOCUMENT_BYTES) return { body, tag: entityTag(body) };
    } catch (error) {
      if (!(error instanceof DescriptionTooLarge)) throw error;
    }
    return "too large";
  }
  return {
    async get(key, variant, write) {
      const made = await find(key, variant, write);
      if (made === "too large") throw new DescriptionTooLarge();
      return made;
    },
  };
}

function nameOf({ workspaceId, workspaceEpoch, tools }: KeyVerdict, variant: string): string {
  const parts = JSON.stringify([workspaceId, String(workspaceEpoch), variant, tools]);
  return createHash("sha256").update(parts).digest("base64");
}
