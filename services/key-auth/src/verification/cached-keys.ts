import { LRUCache } from "lru-cache";
import { type Network, parseNetwork } from "../domain/network.ts";
import type { VerificationRow } from "../store/verification.ts";
import type { KnownEpochs } from "./gate.ts";
import type { RowLoader } from "./row-loader.ts";

/** A key as it was when somebody looked, under the epochs that stood before the look. */
export interface CachedKey {
  row: VerificationRow;
  networks: Network[];
  /** Undefined: it says whose epochs to ask for, and nothing more. */
  epochs: KnownEpochs | undefined;
  loadedAt: number;
  /** A reload that failed is not tried again before. */
  retryAt: number;
}

export interface CachedKeys {
  get(secretHash: Uint8Array): CachedKey | undefined;
  /** What may be put to the gate as known; undefined asks it for the epochs to load under. */
  known(entry: CachedKey): KnownEpochs | undefined;
  /** Loads the key under these epochs. Callers that ask meanwhile under the same ones share the load. */
  load(secretHash: Uint8Array, epochs: KnownEpochs | undefined): Promise<CachedKey | undefined>;
  /** As `load`; an entry that the epochs still confirm is kept when Postgres does not answer. */
  reload(secretHash: Uint8Array, entry: CachedKey, epochs: KnownEpochs): Promise<CachedKey | undefined>;
  clear(): void;
}

const MAX_CACHED_KEYS = 50_000;
const MAX_CACHED_BYTES = 128 * 1024 * 1024;
/** A key without its lists. */
const ENTRY_BYTES = 1_000;
/** A text of a list beside its characters. */
const TEXT_BYTES = 32;
const BYTES_PER_CHAR = 2;
/**
 * Bounds what a crash between a commit and the raise of its epoch can leave behind: that change was never answered, and
 * is seen after this time at the latest while Postgres answers.
 */
export const RELOAD_AFTER_MS = 30_000;
/** How long a key that Redis confirms is used while it cannot be loaded again. */
export const KEEP_FOR_MS = 600_000;
/** How often a key that could not be loaded again is tried. */
export const RETRY_AFTER_MS = 1_000;
/** How long a call waits for the reload of a key that it could use as it is. */
const RELOAD_PATIENCE_MS = 1_000;

export function createCachedKeys(
  loadRow: RowLoader,
  now: () => number,
  { maxBytes = MAX_CACHED_BYTES }: { maxBytes?: number } = {},
): CachedKeys {
  const cache = new LRUCache<string, CachedKey>({ max: MAX_CACHED_KEYS, maxSize: maxBytes, sizeCalculation: sizeOf });
  const underWay = new Map<string, Promise<CachedKey | undefined>>();
  let clearings = 0;

  async function fill(id: string, secretHash: Uint8Array, epochs: KnownEpochs | undefined) {
    const loadedAt = now();
    const began = clearings;
    const row = await loadRow(secretHash);
    if (!row) {
      cache.delete(id);
      return undefined;
    }
    const entry: CachedKey = { row, networks: networksOf(row), epochs, loadedAt, retryAt: 0 };
    if (began === clearings) cache.set(id, entry);
    return entry;
  }

  function load(secretHash: Uint8Array, epochs: KnownEpochs | undefined) {
    const id = idOf(secretHash);
    const lane = `${id} ${epochs?.key} ${epochs?.workspace}`;
    const joined = underWay.get(lane);
    if (joined) return joined;
    const loading = fill(id, secretHash, epochs).finally(() => underWay.delete(lane));
    underWay.set(lane, loading);
    return loading;
  }

  return {
    get: (secretHash) => cache.get(idOf(secretHash)),
    known: (entry) => (now() - entry.loadedAt > RELOAD_AFTER_MS && now() >= entry.retryAt ? undefined : entry.epochs),
    load,
    async reload(secretHash, entry, epochs) {
      const loading = load(secretHash, epochs);
      if (!isConfirmed(entry, epochs) || now() - entry.loadedAt > KEEP_FOR_MS) return loading;
      try {
        return await within(RELOAD_PATIENCE_MS, loading);
      } catch (error) {
        // Forgotten meanwhile: nothing confirms it any more.
        const kept = cache.peek(idOf(secretHash));
        if (!kept) throw error;
        kept.retryAt = now() + RETRY_AFTER_MS;
        return kept;
      }
    },
    clear() {
      clearings += 1;
      cache.clear();
    },
  };
}

/** Throws for a network that cannot be read: skipping it would widen the key, which may be used anywhere without. */
export function networksOf(row: VerificationRow): Network[] {
  return row.allowedNetworks.map((text) => {
    const network = parseNetwork(text);
    if ("fault" in network) throw new Error(`key ${row.keyId} has a network that cannot be read`);
    return network;
  });
}

function sizeOf({ row: { tools, allowedNetworks } }: CachedKey): number {
  let bytes = ENTRY_BYTES;
  for (const text of [...tools, ...allowedNetworks]) bytes += TEXT_BYTES + BYTES_PER_CHAR * text.length;
  return bytes;
}

function idOf(secretHash: Uint8Array): string {
  return Buffer.from(secretHash).toString("latin1");
}

function isConfirmed({ epochs }: CachedKey, current: KnownEpochs): boolean {
  return epochs?.key === current.key && epochs.workspace === current.workspace;
}

async function within<T>(patienceMs: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Postgres does not answer in time")), patienceMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
