import { createEpochCache, type EpochCacheOptions } from "@toolgate/epoch/cache";
import { createLocalCounter } from "@toolgate/epoch/local-counter";
import { minuteWindow, secondsUntil } from "@toolgate/epoch/minute-window";
import type { RowLoader } from "@toolgate/epoch/row-loader";
import { cacheLookups, epochsRead } from "@toolgate/telemetry/instruments";
import type { IsWorkspaceLocked } from "../clients/workspace-lock.ts";
import type { ReceivableRow } from "../store/receivable-hook.ts";
import type { CountCall, HookEpochs } from "./call-counter.ts";

/** A hook's row with its opened secret and its workspace's lock. */
export interface ReceivableHook extends Omit<ReceivableRow, "secret"> {
  /** Opened; empty for an inactive hook. */
  secret: string;
  /** Whether its workspace is locked. */
  locked: boolean;
}

/** A hook call, judged by the current state of its hook. */
interface JudgedCall<Judgement> {
  hook: ReceivableHook;
  judgement: Judgement;
  /** [IN-30] Set when the call was not refused, but the hook's limit is reached. */
  retryAfterSeconds?: number;
}

type Judge<Judgement> = (hook: ReceivableHook) => Judgement;

export interface CurrentHooks {
  /**
   * Judges a call by the current state of its hook, and counts it unless it is `refused`. `judge` may run again with a
   * newer state. Undefined: there is no such hook.
   */
  judge<Judgement extends { refused: boolean }>(
    urlHash: Buffer,
    judge: Judge<Judgement>,
  ): Promise<JudgedCall<Judgement> | undefined>;
}

interface Dependencies extends Pick<EpochCacheOptions<HookEpochs, unknown>, "redis" | "now"> {
  countCall: CountCall;
  loadRow: RowLoader<ReceivableRow>;
  openSecret: (row: ReceivableRow) => string;
  isWorkspaceLocked: IsWorkspaceLocked;
  /** Called with the reason why Redis could not decide. */
  onRedisError: (error: unknown) => void;
}

/** An epoch that still changes after this many reads is a fault, not a user's edits. */
const MAX_RELOADS = 5;
const MAX_CACHED_HOOKS = 50_000;
const MAX_CACHED_BYTES = 64 * 1024 * 1024;
/** The size of a hook without its secret. */
const HOOK_BYTES = 500;

/**
 * One round trip to Redis per call: a cached hook is used only while Redis has the epochs under which it was loaded, so
 * that an edit, a rotation, a deactivation and a lock apply on every replica from their response on. While Redis is
 * down, every call reads the hook from Postgres, a verified one also asks for its workspace's lock, and the limit is
 * counted in this process.
 */
export function createCurrentHooks(dependencies: Dependencies): CurrentHooks {
  const { countCall, loadRow, openSecret, isWorkspaceLocked, redis, now, onRedisError } = dependencies;
  const localCounter = createLocalCounter();
  const cache = createEpochCache<HookEpochs, ReceivableHook | undefined>({
    name: "hooks",
    redis,
    now,
    isCurrent: (cached, wanted) => cached.hook === wanted.hook && cached.workspace === wanted.workspace,
    maxEntries: MAX_CACHED_HOOKS,
    maxBytes: MAX_CACHED_BYTES,
    sizeOf: (hook) => HOOK_BYTES + 2 * (hook?.secret.length ?? 0),
  });

  async function loadHook(urlHash: Buffer): Promise<ReceivableHook | undefined> {
    const row = await loadRow(urlHash);
    if (!row?.active) return row && { ...row, secret: "", locked: false };
    return { ...row, secret: openSecret(row), locked: await isWorkspaceLocked(row.workspaceId) };
  }

  /** Calls that fail verification cause no request to key-auth, and do not learn whether the workspace is locked. */
  async function judgeWithoutRedis<J extends { refused: boolean }>(
    urlHash: Buffer,
    judge: Judge<J>,
  ): Promise<JudgedCall<J> | undefined> {
    const row = await loadRow(urlHash);
    if (!row) return undefined;
    const unlocked = { ...row, secret: row.active ? openSecret(row) : "", locked: false };
    const verified = judge(unlocked);
    if (verified.refused) return { hook: unlocked, judgement: verified };
    const hook = { ...unlocked, locked: await isWorkspaceLocked(row.workspaceId) };
    const judgement = judge(hook);
    if (judgement.refused) return { hook, judgement };
    const { minute, resetAt } = minuteWindow(now());
    const { admitted } = localCounter.take(String(hook.id), minute, hook.limit, true);
    return admitted ? { hook, judgement } : { hook, judgement, retryAfterSeconds: secondsUntil(resetAt, now()) };
  }

  return {
    async judge(urlHash, judge) {
      const id = urlHash.toString("latin1");
      const cached = cache.peek(id);
      let hook = cached?.value;
      // Without known epochs, Redis returns only the current ones.
      let epochs = hook && cached?.epoch;
      const ids = hook ?? (await loadRow(urlHash));
      if (!ids) return undefined;
      for (let reloads = 0; reloads <= MAX_RELOADS; reloads += 1) {
        const judgement = hook && epochs && judge(hook);
        const count = judgement !== undefined && !judgement.refused;
        const { id: hookId, workspaceId } = ids;
        const counted = await countCall({
          hookId,
          workspaceId,
          known: epochs,
          limit: hook?.limit ?? 0,
          count,
        }).catch(onRedisError);
        epochsRead.add(1, { source: counted ? "redis" : "none" });
        if (!counted) return judgeWithoutRedis(urlHash, judge);
        if (counted.kind === "stale") {
          epochs = counted.epochs;
          hook = await cache.get(id, epochs, () => loadHook(urlHash));
          if (!hook) return undefined;
          continue;
        }
        if (reloads === 0) cacheLookups.add(1, { cache: "hooks", result: "hit" });
        if (!hook || !judgement) throw new Error("Redis decided although no epochs were sent");
        if (counted.kind === "counted") return { hook, judgement };
        return { hook, judgement, retryAfterSeconds: counted.retryAfterSeconds };
      }
      throw new Error("the hook's epochs keep changing");
    },
  };
}
