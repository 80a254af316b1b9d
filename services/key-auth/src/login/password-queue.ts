import { Code, ConnectError } from "@connectrpc/connect";

/** Each hash takes 32 MiB and a thread of the pool (of four) that file and name lookups also use. */
export const CONCURRENT_HASHES = 2;
/** Hashes of one account or one network at the same time: the other slot is for everybody else. */
const CONCURRENT_PER_SOURCE = 1;
export const MAX_WAITING_PER_SOURCE = 50;
export const MAX_WAITING = 2_000;
/** What a source has used counts half after this time. */
const HALF_LIFE_MS = 10_000;
const NEGLIGIBLE = 0.01;
/** Half a check: between two who have used nothing lately, the one who has signed in before goes first. */
const HANDICAP_OF_STRANGERS = 0.5;
const RETRY_AFTER_S = 5;

/** On whose account a password is checked, and who wants it. */
export interface CheckSource {
  account: string;
  /** Undefined: the caller's address is not known. */
  network: string | undefined;
  /** The account has been used from this network before. It then does not share a turn with strangers. */
  isKnown: boolean;
}

/** Runs work that hashes a password. Rejects immediately when too much of the same source is waiting. */
export type PasswordQueue = <T>(source: CheckSource, work: () => Promise<T>) => Promise<T>;

interface Waiting {
  isKnown: boolean;
  keys: readonly string[];
  start: () => void;
}

interface Usage {
  amount: number;
  atMs: number;
  running: number;
  waiting: number;
}

/**
 * Gives the next free slot to whoever has used the least recently: by account and by network, whichever has used more. So
 * however many checks one account or one network asks for, another one waits for one hash at most, and strangers who try
 * an account's password do not delay its owner at a known network, nor do thousands of networks and accounts that have never
 * signed in delay those that have. Correct and wrong passwords count the same.
 */
export function createPasswordQueue(nowMs: () => number = () => performance.now()): PasswordQueue {
  const usages = new Map<string, Usage>();
  const waiting: Waiting[] = [];
  let running = 0;

  const usageOf = (key: string): Usage => {
    const found = usages.get(key) ?? { amount: 0, atMs: nowMs(), running: 0, waiting: 0 };
    usages.set(key, found);
    return found;
  };
  const amountOf = (key: string): number => {
    const usage = usageOf(key);
    usage.amount *= 0.5 ** ((nowMs() - usage.atMs) / HALF_LIFE_MS);
    usage.atMs = nowMs();
    return usage.amount;
  };
  const forgetIdle = (keys: readonly string[]) => {
    for (const key of keys) {
      const usage = usages.get(key);
      if (usage && usage.running === 0 && usage.waiting === 0 && amountOf(key) < NEGLIGIBLE) usages.delete(key);
    }
  };

  /** The place in the queue of the check to start now; undefined if none may start. */
  function next(): number | undefined {
    let [best, least] = [undefined as number | undefined, Number.POSITIVE_INFINITY];
    for (const [place, { keys, isKnown }] of waiting.entries()) {
      if (keys.some((key) => usageOf(key).running >= CONCURRENT_PER_SOURCE)) continue;
      const used = Math.max(...keys.map(amountOf)) + (isKnown ? 0 : HANDICAP_OF_STRANGERS);
      if (used < least) [best, least] = [place, used];
    }
    return best;
  }

  function startNext(): void {
    while (running < CONCURRENT_HASHES) {
      const place = next();
      if (place === undefined) return;
      const [entry] = waiting.splice(place, 1);
      if (!entry) return;
      running += 1;
      for (const key of entry.keys) {
        amountOf(key);
        const usage = usageOf(key);
        usage.waiting -= 1;
        usage.running += 1;
        usage.amount += 1;
      }
      entry.start();
    }
  }

  return async (source, work) => {
    const keys = keysOf(source);
    const isFull = waiting.length >= MAX_WAITING || keys.some((key) => usageOf(key).waiting >= MAX_WAITING_PER_SOURCE);
    if (isFull) {
      forgetIdle(keys);
      const headers = { "retry-after": String(RETRY_AFTER_S) };
      throw new ConnectError("too many simultaneous logins: try again", Code.ResourceExhausted, headers);
    }
    for (const key of keys) usageOf(key).waiting += 1;
    const started = new Promise<void>((start) => waiting.push({ isKnown: source.isKnown, keys, start }));
    startNext();
    await started;
    try {
      return await work();
    } finally {
      running -= 1;
      for (const key of keys) usageOf(key).running -= 1;
      if (usages.size > 2 * MAX_WAITING) forgetIdle([...usages.keys()]);
      startNext();
    }
  };
}

function keysOf({ account, network = "unknown", isKnown }: CheckSource): string[] {
  return isKnown ? [`known:${account}:${network}`] : [`account:${account}`, `network:${network}`];
}
