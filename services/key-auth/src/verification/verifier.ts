import { createEpochCache, type EpochCacheOptions } from "@toolgate/epoch/cache";
import { createLocalCounter } from "@toolgate/epoch/local-counter";
import { minuteWindow } from "@toolgate/epoch/minute-window";
import type { RowLoader } from "@toolgate/epoch/row-loader";
import { isInNetworks, type Network, parseNetwork } from "@toolgate/ip-address/network";
import { cacheLookups, epochsRead } from "@toolgate/telemetry/instruments";
import { isSecretValid, statusOf } from "../domain/key.ts";
import type { VerificationRow } from "../store/verification.ts";
import type { Admission, KeyEpochs } from "./admission.ts";

/** Undefined: no such key, revoked, expired, secret replaced, or address not allowed. */
export type Verdict =
  | (VerificationRow & { admitted: boolean; used: number; resetAt: number; epoch: string })
  | undefined;

interface CallToVerify {
  /** Count the call if it is admitted. */
  count: boolean;
  /** The caller's address. */
  clientIp: string;
}

export interface Verifier {
  verify(secretHash: Uint8Array, call: CallToVerify): Promise<Verdict>;
}

interface VerifierDependencies extends Pick<EpochCacheOptions<KeyEpochs, unknown>, "redis" | "now"> {
  admission: Pick<Admission, "decide">;
  load: RowLoader<VerificationRow>;
  /** Called with the reason why Redis could not decide. */
  onAdmissionError: (error: unknown) => void;
  maxCachedBytes?: number;
}

/** A key's row with its networks parsed. */
interface VerifiableKey {
  row: VerificationRow;
  networks: Network[];
}

/** Tells the gateway and tool-runner to cache nothing for this call. */
const UNKNOWN_EPOCH = "0";
/** An epoch that still changes after this many reads is a fault, not a user's edits. */
const MAX_RELOADS = 5;
const MAX_CACHED_KEYS = 50_000;
const MAX_CACHED_BYTES = 128 * 1024 * 1024;
/** Memory for a key without its lists. */
const KEY_BYTES = 500;
/** Memory for an entry of a list without its characters. */
const TEXT_BYTES = 32;
const BYTES_PER_CHAR = 2;

/**
 * [KEY-21] Decides on a key with one round trip to Redis: a cached key is used only while Redis has the epochs under which
 * it was loaded. While Redis is down, every call reads Postgres and the limit is counted in this process. While Postgres
 * is down, keys whose epochs are current continue to work for as long as the cache keeps them.
 */
export function createVerifier({
  admission,
  load,
  redis,
  now,
  onAdmissionError,
  maxCachedBytes = MAX_CACHED_BYTES,
}: VerifierDependencies): Verifier {
  const localCounter = createLocalCounter();
  const cache = createEpochCache<KeyEpochs, VerifiableKey | undefined>({
    name: "keys",
    redis,
    now,
    isCurrent: (cached, wanted) => cached.key === wanted.key && cached.workspace === wanted.workspace,
    maxEntries: MAX_CACHED_KEYS,
    maxBytes: maxCachedBytes,
    sizeOf: (key) => (key ? sizeOf(key) : 0),
  });

  async function loadKey(secretHash: Uint8Array): Promise<VerifiableKey | undefined> {
    const row = await load(secretHash);
    return row && toVerifiableKey(row);
  }

  function verifyWithoutRedis(key: VerifiableKey | undefined, { count, clientIp }: CallToVerify): Verdict {
    if (!key || !isUsable(key, clientIp, now())) return undefined;
    const { row } = key;
    const { minute, resetAt } = minuteWindow(now());
    return { ...row, ...localCounter.take(row.keyId, minute, row.limit, count), resetAt, epoch: UNKNOWN_EPOCH };
  }

  return {
    async verify(secretHash, call) {
      const id = Buffer.from(secretHash).toString("latin1");
      const cached = cache.peek(id);
      // Without known epochs, Redis returns only the current epochs of the key and its workspace.
      let epochs = cached?.value && cached.epoch;
      const loaded = cached?.value ? undefined : await loadKey(secretHash);
      let key = cached?.value ?? loaded;
      for (let reloads = 0; key && reloads <= MAX_RELOADS; reloads += 1) {
        const { row } = key;
        const isValid = isUsable(key, call.clientIp, now());
        const request = { ...row, known: epochs, count: call.count && isValid };
        const decision = await admission.decide(request).catch(onAdmissionError);
        epochsRead.add(1, { source: decision ? "redis" : "none" });
        if (!decision) return verifyWithoutRedis(key === loaded ? loaded : await loadKey(secretHash), call);
        if (decision.kind !== "stale") {
          if (reloads === 0) cacheLookups.add(1, { cache: "keys", result: "hit" });
          if (!isValid) return undefined;
          const { kind, used, resetAt } = decision;
          return { ...row, admitted: kind === "admitted", used, resetAt, epoch: epochs?.workspace ?? UNKNOWN_EPOCH };
        }
        epochs = decision.epochs;
        key = await cache.get(id, epochs, () => loadKey(secretHash));
      }
      if (key) throw new Error("the key's epochs keep changing");
      return undefined;
    },
  };
}

/** Throws for a network that cannot be parsed: a key without networks may be used from anywhere. */
function toVerifiableKey(row: VerificationRow): VerifiableKey {
  const networks = row.allowedNetworks.map((text) => {
    const network = parseNetwork(text);
    if ("fault" in network) throw new Error(`key ${row.keyId} has a network that cannot be read`);
    return network;
  });
  return { row, networks };
}

/** Whether the key, the secret and the caller's address are all valid. */
function isUsable({ row, networks }: VerifiableKey, clientIp: string, nowMs: number): boolean {
  const now = new Date(nowMs);
  const mayCallFrom = networks.length === 0 || isInNetworks(networks, clientIp);
  return statusOf(row, now) === "active" && isSecretValid(row, now) && mayCallFrom;
}

/** Bytes in memory, roughly. */
function sizeOf({ row: { tools, allowedNetworks } }: VerifiableKey): number {
  let bytes = KEY_BYTES;
  for (const text of [...tools, ...allowedNetworks]) bytes += TEXT_BYTES + BYTES_PER_CHAR * text.length;
  return bytes;
}
