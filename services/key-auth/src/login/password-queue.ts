import { Code, ConnectError } from "@connectrpc/connect";

/** Each hash takes 32 MiB and a thread of the pool (of four) that file and name lookups also use. */
export const CONCURRENT_HASHES = 2;
/** Hashes of one account or one network at the same time: the other slot is for everybody else. */
const CONCURRENT_PER_SOURCE = 1;
export const MAX_WAITING_PER_SOURCE = 50;
/** Of all devices and sessions of an account, and again of all networks that it has been used from. */
export const MAX_WAITING_PER_OWNER = 100;
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
  /**
   * The device or the session, if it is known to the account. It shares its failures with nobody, and its turns with the
   * account's other devices and sessions.
   */
  device?: string | undefined;
  /** The account has been used from this device or this network before. It then does not share a turn with strangers. */
  isKnown: boolean;
}

/**
 * Runs work that hashes a password. Rejects immediately when too much of the same source is waiting, and after 15 s, or
 * when the signal fires, if the work has not started by then.
 */
export type PasswordQueue = <T>(source: CheckSource, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** What a check counts for. One check of a key runs at a time. */
interface Key {
  name: string;
  maxWaiting: number;
  /** Whether those who have used it recently are put behind others. */
  isRanked: boolean;
}

interface Waiting {
  isKnown: boolean;
  keys: readonly Key[];
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
 * most. So however many checks one account, one network or one site asks for, another one waits for one hash at most. All
 * devices and sessions of an account run one check at a time, as do all its known networks: its owner can have any number.
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

  const usageOf = (name: string): Usage => {
    const found = usages.get(name) ?? { amount: 0, atMs: nowMs(), running: 0, waiting: 0 };
    usages.set(name, found);
    return found;
  };
  const amountOf = (name: string): number => {
    const usage = usageOf(name);
    usage.amount *= 0.5 ** ((nowMs() - usage.atMs) / HALF_LIFE_MS);
    usage.atMs = nowMs();
    return usage.amount;
  };
  const forgetIdle = (names: Iterable<string>) => {
    for (const name of names) {
      const usage = usages.get(name);
      if (usage && usage.running === 0 && usage.waiting === 0 && amountOf(name) < NEGLIGIBLE) usages.delete(name);
    }
  };

  /** The place in the queue of the check to start now; undefined if none may start. */
  function next(): number | undefined {
    let [best, least] = [undefined as number | undefined, Number.POSITIVE_INFINITY];
    for (const [place, { keys, isKnown }] of waiting.entries()) {
      if (keys.some(({ name }) => usageOf(name).running >= CONCURRENT_PER_SOURCE)) continue;
      const amounts = keys.map(({ name, isRanked }) => (isRanked ? amountOf(name) : 0));
      const used = Math.max(...amounts) + (isKnown ? 0 : HANDICAP_OF_STRANGERS);
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
      for (const { name } of entry.keys) {
        amountOf(name);
        const usage = usageOf(name);
        usage.waiting -= 1;
        usage.running += 1;
        usage.amount += 1;
      }
      entry.start();
    }
  }

  /** Resolves when it is the turn of a source. Rejects, and gives its place up, when the signal fires or it waited too long. */
  function untilTurn(isKnown: boolean, keys: readonly Key[], signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Waiting = { isKnown, keys, start: resolve };
    for (const { name } of keys) usageOf(name).waiting += 1;
    waiting.push(entry);
    const giveUp = (error: unknown) => {
      const place = waiting.indexOf(entry);
      if (place === -1) return;
      waiting.splice(place, 1);
      for (const { name } of keys) usageOf(name).waiting -= 1;
      forgetIdle(keys.map(({ name }) => name));
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
    const isFull = waiting.length >= places || keys.some(({ name, maxWaiting }) => usageOf(name).waiting >= maxWaiting);
    if (isFull) {
      forgetIdle(keys.map(({ name }) => name));
      throw tooMany();
    }
    await untilTurn(source.isKnown, keys, signal);
    try {
      return await work();
    } finally {
      running -= 1;
      for (const { name } of keys) usageOf(name).running -= 1;
      if (usages.size > 2 * MAX_WAITING) forgetIdle([...usages.keys()]);
      startNext();
    }
  };
}

function tooMany(): ConnectError {
  const headers = { "retry-after": String(RETRY_AFTER_S) };
  return new ConnectError("too many simultaneous logins: try again", Code.ResourceExhausted, headers);
}

function keysOf({ account, network = "unknown", site = network, device, isKnown }: CheckSource): Key[] {
  if (device !== undefined) return [sourceKey(`device:${account}:${device}`), ownerKey(`devices:${account}`, true)];
  // Strangers can be in a known network, and do not put the owner back in another one.
  if (isKnown) return [sourceKey(`known:${account}:${network}`), ownerKey(`known:${account}`, false)];
  const names = [`account:${account}`, `network:${network}`, ...(site === network ? [] : [`site:${site}`])];
  return names.map(sourceKey);
}

function sourceKey(name: string): Key {
  return { name, maxWaiting: MAX_WAITING_PER_SOURCE, isRanked: true };
}

/** What the sources of one owner have together. */
function ownerKey(name: string, isRanked: boolean): Key {
  return { name, maxWaiting: MAX_WAITING_PER_OWNER, isRanked };
}
