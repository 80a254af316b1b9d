import { createHash } from "node:crypto";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { DescribeToolsResponse, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { cacheLookups } from "@toolgate/telemetry/instruments";
import { LRUCache } from "lru-cache";
import { entityTag } from "../../domain/entity-tag.ts";

interface Description {
  body: Buffer;
  tag: string;
}

/** Too large: the tools of a key have more to describe than one document may. */
type Made = Description | "too large";

/** How a document is written, from what tool-runner tells about the tools of a key. */
export type WriteDescription = (described: DescribeToolsResponse) => string;

/**
 * Makes documents for keys, and caches them until the workspace or the key's list of tools changes. Simultaneous requests for
 * the same document share the work. Without the workspace's epoch nothing is cached.
 *
 * `variant`: what the document depends on in addition to the key. Never a value that callers choose, or they could
 * fill the cache. The verdict must list the key's tools.
 */
export type DescriptionCache = (key: KeyVerdict, variant: string, write: WriteDescription) => Promise<Made>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Of one document: twice what tool-runner tells about the tools of a key at most. */
const MAX_DOCUMENT_BYTES = 6 * 1024 * 1024;
/** Limits how long a change stays unseen if its epoch was never raised. */
const RELOAD_AFTER_MS = 30_000;
/** The epoch in a verdict when it could not be read. */
const UNKNOWN_EPOCH = 0n;

export function createDescriptionCache(tools: Client<typeof ToolService>): DescriptionCache {
  const cache = new LRUCache<string, Made, () => Promise<Made>>({
    maxSize: MAX_BYTES,
    // Also that a document is too large is kept, or each request would read all its tools again.
    sizeCalculation: (made) => (made === "too large" ? 1 : made.body.byteLength + 1),
    ttl: RELOAD_AFTER_MS,
    fetchMethod: (_name, _stale, { context: make }) => make(),
    // A document that is evicted while it is being made still reaches the requests that wait for it.
    ignoreFetchAbort: true,
  });
  async function build(key: KeyVerdict, write: WriteDescription): Promise<Made> {
    const { workspaceId, workspaceEpoch, tools: names, grant } = key;
    try {
      const described = await tools.describeTools(
        { workspaceId, workspaceEpoch, names, grant },
        { timeoutMs: TIMEOUT_MS },
      );
      const body = Buffer.from(write(described));
      if (body.byteLength <= MAX_DOCUMENT_BYTES) return { body, tag: entityTag(body) };
    } catch (error) {
      // tool-runner's own limit.
      if (ConnectError.from(error).code !== Code.FailedPrecondition) throw error;
    }
    return "too large";
  }
  return async (key, variant, write) => {
    const make = () => build(key, write);
    if (key.workspaceEpoch === UNKNOWN_EPOCH) return make();
    const name = nameOf(key, variant);
    const cached = cache.get(name);
    cacheLookups.add(1, { cache: "descriptions", result: cached ? "hit" : "miss" });
    return cached ?? cache.forceFetch(name, { context: make });
  };
}

function nameOf({ workspaceId, workspaceEpoch, tools }: KeyVerdict, variant: string): string {
  const parts = JSON.stringify([workspaceId, String(workspaceEpoch), variant, tools]);
  return createHash("sha256").update(parts).digest("base64");
}
