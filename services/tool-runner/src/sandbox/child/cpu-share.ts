const MIN_SHARE = 0.02;
/**
 * What a step gets at its first, second and last try: so many times the time that it probably needs, and at most so many
 * times its CPU time. The first is so short that an endless loop ends before the watchdog kills the child for it, even if
 * the machine becomes free meanwhile; the last must be enough.
 */
const TRIES = [
  { slack: 2, most: 8 },
  { slack: 4, most: 16 },
  { slack: 32, most: 100 },
] as const;
/** A step of this time or more says what the share is now; a shorter one counts in proportion. */
const FULL_WEIGHT_MS = 200;
/** After so long without a step nothing is known about the share any more. */
const FORGOTTEN_AFTER_MS = 10_000;
/** Waiting for a turn adds time even to the shortest step. */
const MIN_WALL_MS = 20;
const US_PER_MS = 1_000;

/**
 * The share of a core that this process gets. The engine interrupts by the clock, but a run's limit is in CPU time: on a
 * busy machine a step needs more time for the same work. Without recent steps the machine counts as free, so that what
 * was learned while it was busy lets no endless loop have a whole core for long.
 */
export class CpuShare {
  readonly #now: () => number;
  #share: number;
  #learnedAt: number;

  /** The share that this process has had since it began to start: call it at the end of the start. */
  static ofStart(): CpuShare {
    const { user, system } = process.cpuUsage();
    return new CpuShare((user + system) / US_PER_MS / performance.now());
  }

  constructor(share = 1, now = () => performance.now()) {
    this.#now = now;
    this.#share = bounded(share);
    this.#learnedAt = now();
  }

  /** A step that has just ended has used this much. */
  observe(cpuMs: number, wallMs: number): void {
    if (wallMs <= 0) return;
    const now = this.#now();
    const before = this.#shareAt(now - wallMs);
    this.#share = before + (bounded(cpuMs / wallMs) - before) * Math.min(1, wallMs / FULL_WEIGHT_MS);
    this.#learnedAt = now;
  }

  /**
   * After how long a step has probably used this much CPU time: the share may fall meanwhile. So each further try of a step
   * that was starved gets more time.
   */
  wallMsFor(cpuMs: number, timesStarved = 0): number {
    const { slack, most } = TRIES[timesStarved] ?? TRIES[2];
    const factor = Math.min(most, slack / this.#shareAt(this.#now()));
    return Math.max(MIN_WALL_MS, Math.ceil(cpuMs * factor));
  }

  #shareAt(now: number): number {
    const forgotten = Math.min(1, Math.max(0, now - this.#learnedAt) / FORGOTTEN_AFTER_MS);
    return this.#share + (1 - this.#share) * forgotten;
  }
}

function bounded(share: number): number {
  return Math.min(1, Math.max(MIN_SHARE, share));
}
