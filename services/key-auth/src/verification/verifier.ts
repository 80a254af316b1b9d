import { cacheLookups, epochsRead } from "@toolgate/telemetry/instruments";
import { secretHolds, statusOf } from "../domain/key.ts";
import { minuteWindow } from "../domain/minute-window.ts";
import { admitsAddress, type Network } from "../domain/network.ts";
import type { VerificationRow } from "../store/verification.ts";
import { createCachedKeys, networksOf } from "./cached-keys.ts";
import type { Gate } from "./gate.ts";
import type { LocalCounter } from "./local-counter.ts";
import type { RowLoader } from "./row-loader.ts";
import { rememberUnknown } from "./unknown-hashes.ts";

/** Undefined: no such key, revoked, expired, replaced, or not to be used from this address. */
export type Verdict =
  | (VerificationRow & { admitted: boolean; used: number; resetAt: number; epoch: string })
  | undefined;

export interface VerifiedCall {
  /** Count the call if it is admitted. */
  count: boolean;
  /** Address of the caller. */
  clientIp: string;
}

export interface Verifier {
  verify(secretHash: Uint8Array, call: VerifiedCall): Promise<Verdict>;
  /** Forgets everything: after a reconnect to Redis its epochs may have gone back. */
  forget(): void;
}

export interface VerifierDependencies {
  gate: Pick<Gate, "decide">;
  load: RowLoader;
  localCounter: LocalCounter;
  now: () => number;
  /** Told why Redis could not decide. */
  onGateError: (error: unknown) => void;
}

/** Whoever gets it caches nothing and loads what it needs. */
const UNKNOWN_EPOCH = "0";
/** Epochs that move at each look are somebody editing in a loop; more than this many reloads is a fault. */
const MAX_RELOADS = 5;

/**
 * [KEY-21] Decides on a key with one Redis round trip: the cached row counts only while the epochs in Redis are those
 * under which it was loaded. Without Redis every call reads Postgres, and the limit is counted in this process; without
 * Postgres the keys that Redis confirms go on.
 */
export function createVerifier(dependencies: VerifierDependencies): Verifier {
  const { gate, localCounter, now, onGateError } = dependencies;
  const load = rememberUnknown(dependencies.load, now);
  const cached = createCachedKeys(load, now);

  async function withoutRedis(secretHash: Uint8Array, { count, clientIp }: VerifiedCall): Promise<Verdict> {
    const row = await load(secretHash);
    if (!row || !opens(row, networksOf(row), clientIp, now())) return undefined;
    const { minute, resetAt } = minuteWindow(now());
    return { ...row, ...localCounter.take(row.keyId, minute, row.limit, count), resetAt, epoch: UNKNOWN_EPOCH };
  }

  return {
    forget: () => cached.clear(),
    async verify(secretHash, call) {
      let entry = cached.get(secretHash);
      cacheLookups.add(1, { cache: "keys", result: entry ? "hit" : "miss" });
      entry ??= await cached.load(secretHash, undefined);
      for (let asked = 0; asked <= MAX_RELOADS && entry; asked += 1) {
        const { row, networks } = entry;
        const known = cached.known(entry);
        const open = opens(row, networks, call.clientIp, now());
        const question = { ...row, known, count: call.count && open };
        const answer = await gate.decide(question).catch(onGateError);
        epochsRead.add(1, { source: answer ? "redis" : "none" });
        if (!answer) return withoutRedis(secretHash, call);
        if (answer.kind === "stale") {
          entry = await cached.reload(secretHash, entry, answer.epochs);
          continue;
        }
        if (!open) return undefined;
        const { kind, used, resetAt } = answer;
        return { ...row, admitted: kind === "admitted", used, resetAt, epoch: known?.workspace ?? UNKNOWN_EPOCH };
      }
      if (entry) throw new Error("the key's epochs did not hold still");
      return undefined;
    },
  };
}

function opens(row: VerificationRow, networks: readonly Network[], clientIp: string, nowMs: number): boolean {
  const now = new Date(nowMs);
  return statusOf(row, now) === "active" && secretHolds(row, now) && admitsAddress(networks, clientIp);
}
