import { Code, ConnectError } from "@connectrpc/connect";

/** Each hash takes 32 MiB and a thread of the pool (of four) that file and name lookups also use. */
export const CONCURRENT_HASHES = 2;
/** Hashes of one account or one network at the same time: the other slot is for everybody else. */
const CONCURRENT_PER_SOURCE = 1;
export const MAX_WAITING_PER_SOURCE = 50;
export const MAX_WAITING = 2_000;
/** Places that only those may take who have signed in before, so that strangers cannot fill the queue. */
export const RESERVED_FOR_KNOWN = 500;
/** Shorter than the gateway's deadline for the RPC, so that the caller learns why. */
const MAX_WAIT_MS = 15_000;
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
  /** The larger network that one subscriber may have, with thousands of networks in it. */
  site?: string | undefined;
  /** The device or the session, if it is known to the account. It shares its turns and its failures with nobody. */
  device?: string | undefined;
  /** The account has been used from this device or this network before. It then does not share a turn with strangers. */
  isKnown: boolean;
}

/**
 * Runs work that hashes a password. Rejects immediately when too much of the same source is waiting, and after 15 s, or
 * when the signal fires, if the work has not started by then.
 */
export type PasswordQueue = <T>(source: CheckSource, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

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
 * Gives the next free slot to whoever has used the least recently: by account, by network and by site, whichever has used
 * most. So however many checks one account, one network or one site asks for, another one waits for one hash at most.
 * Strangers who try an account's password do not delay its owner at a known device or network, nor do thousands of networks
 * and accounts that have never signed in delay those that have. Correct and wrong passwords count the same.
 */
export function createPasswordQueue(
  nowMs: () => number = () => performance.now(),
  maxWaitMs: number = MAX_WAIT_MS,
): PasswordQueue {
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

  /** Resolves when it is the turn of a source. Rejects, and gives its place up, when the signal fires or it waited too long. */
  function untilTurn(isKnown: boolean, keys: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Waiting = { isKnown, keys, start: resolve };
    for (const key of keys) usageOf(key).waiting += 1;
    waiting.push(entry);
    const giveUp = (error: unknown) => {
      const place = waiting.indexOf(entry);
      if (place === -1) return;
      waiting.splice(place, 1);
      for (const key of keys) usageOf(key).waiting -= 1;
      forgetIdle(keys);
      reject(error);
    };
    const onAbort = () => giveUp(signal?.reason);
    const timer = setTimeout(() => giveUp(tooMany()), maxWaitMs).unref();
    signal?.addEventListener("abort", onAbort);
    startNext();
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  }

  return async (source, work, signal) => {
    const keys = keysOf(source);
    const places = MAX_WAITING + (source.isKnown ? RESERVED_FOR_KNOWN : 0);
    const isFull = waiting.length >= places || keys.some((key) => usageOf(key).waiting >= MAX_WAITING_PER_SOURCE);
    if (isFull) {
      forgetIdle(keys);
      throw tooMany();
    }
    await untilTurn(source.isKnown, keys, signal);
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

function tooMany(): ConnectError {
  const headers = { "retry-after": String(RETRY_AFTER_S) };
  return new ConnectError("too many simultaneous logins: try again", Code.ResourceExhausted, headers);
}

function keysOf({ account, network = "unknown", site = network, device, isKnown }: CheckSource): string[] {
  if (device !== undefined) return [`device:${account}:${device}`];
  if (isKnown) return [`known:${account}:${network}`];
  return [`account:${account}`, `network:${network}`, ...(site === network ? [] : [`site:${site}`])];
}
