import { createGuestIsolate, type GuestIsolate } from "./guest-isolate.ts";

export const MAX_ISOLATES = 128;
export const MAX_TOTAL_HEAP_MIB = 512;
export const MAX_RUNS_AT_ONCE_PER_ISOLATE = 200;
const RUNS_BEFORE_RECYCLING = 20_000;
const HEAP_BEFORE_RECYCLING_MIB = 20;
const ENTRIES_BETWEEN_HEAP_READINGS = 64;

/** An isolate with its tool loaded and the tickets of the runs that are under way in it. */
export type Home = {
  readonly guest: GuestIsolate;
  readonly keyId: number;
  readonly tickets: Set<number>;
  runsServed: number;
  entriesUntilReading: number;
  heapMib: number;
};

export type IsolateHomes = {
  define: (keyId: number, code: string) => void;
  forget: (keyId: number) => void;
  /**
   * The isolate for a new run of this tool; undefined when all are in use. Throws the engine's SyntaxError when the tool
   * does not compile.
   */
  forNewRun: (keyId: number) => Home | undefined;
  /** To be told after every entry: measures now and then, and lets go of what has grown or aged. */
  afterEntry: (home: Home) => void;
  /** Ends an isolate at once; the tickets that it still held are returned. */
  destroy: (home: Home) => number[];
  /** Prepares an empty isolate for the next tool that needs one. */
  prepareSpare: () => void;
};

export function createIsolateHomes(): IsolateHomes {
  const codes = new Map<number, string>();
  const current = new Map<number, Home>();
  const all = new Set<Home>();
  let spare: GuestIsolate | undefined = createGuestIsolate();

  const destroy = (home: Home): number[] => {
    if (current.get(home.keyId) === home) current.delete(home.keyId);
    all.delete(home);
    home.guest[Symbol.dispose]();
    return [...home.tickets];
  };

  /** New runs go elsewhere; what is under way may finish. */
  const retire = (home: Home) => {
    if (current.get(home.keyId) === home) current.delete(home.keyId);
    if (home.tickets.size === 0) destroy(home);
  };

  /** False when there is no room for another isolate and none is idle: a run under way is never given up for one. */
  const makeRoom = (): boolean => {
    while (isTooMuch(all)) {
      const idle = firstIdle(all);
      if (idle === undefined) return false;
      destroy(idle);
    }
    return true;
  };

  const settleIn = (keyId: number): Home | undefined => {
    const code = codes.get(keyId);
    if (code === undefined) throw new Error("The tool is not known here");
    if (!makeRoom()) return undefined;
    const guest = spare ?? createGuestIsolate();
    spare = undefined;
    try {
      guest.load(code);
    } catch (error) {
      guest[Symbol.dispose]();
      throw error;
    }
    const home = { guest, keyId, tickets: new Set<number>(), runsServed: 0, entriesUntilReading: 1, heapMib: 0 };
    current.set(keyId, home);
    all.add(home);
    return home;
  };

  return {
    define: (keyId, code) => {
      codes.set(keyId, code);
    },
    forget: (keyId) => {
      codes.delete(keyId);
      const home = current.get(keyId);
      if (home !== undefined) retire(home);
    },
    forNewRun: (keyId) => {
      let home = current.get(keyId);
      if (home !== undefined && home.tickets.size >= MAX_RUNS_AT_ONCE_PER_ISOLATE) {
        retire(home);
        home = undefined;
      }
      home ??= settleIn(keyId);
      if (home === undefined) return undefined;
      home.runsServed += 1;
      // Sets keep the order of insertion: the first is the one that was unused for longest.
      if (all.size > 1) {
        all.delete(home);
        all.add(home);
      }
      return home;
    },
    afterEntry: (home) => {
      home.entriesUntilReading -= 1;
      if (home.entriesUntilReading <= 0 && !home.guest.isDead()) {
        home.entriesUntilReading = ENTRIES_BETWEEN_HEAP_READINGS;
        home.heapMib = home.guest.heapMib();
        if (home.heapMib > HEAP_BEFORE_RECYCLING_MIB) retire(home);
      }
      if (home.runsServed >= RUNS_BEFORE_RECYCLING) retire(home);
      if (home.tickets.size === 0 && current.get(home.keyId) !== home) destroy(home);
    },
    destroy,
    prepareSpare: () => {
      spare ??= createGuestIsolate();
    },
  };
}

function isTooMuch(all: ReadonlySet<Home>): boolean {
  let heapMib = 0;
  for (const home of all) heapMib += home.heapMib;
  return all.size >= MAX_ISOLATES || heapMib > MAX_TOTAL_HEAP_MIB;
}

/** Of those without a run, the one unused for longest. */
function firstIdle(all: ReadonlySet<Home>): Home | undefined {
  for (const home of all) if (home.tickets.size === 0) return home;
  return undefined;
}
