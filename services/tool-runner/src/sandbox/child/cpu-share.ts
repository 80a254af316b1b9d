import { MAX_CPU_FACTOR } from "../limits.ts";

const MIN_SHARE = 0.02;
/**
 * How much time a step gets. `slack`: multiple of the time that it probably needs. `most`: upper bound, as a multiple of its
 * CPU time.
 */
type Allowance = { slack: number; most: number };

/**
 * At the first, second and third try of a run. At the first one even an endless loop whose machine becomes free meanwhile
 * ends before the watchdog kills the child for it.
 */
const TRIES: readonly Allowance[] = [
  { slack: 2, most: MAX_CPU_FACTOR - 2 },
  { slack: 4, most: 16 },
  { slack: 32, most: 100 },
];
/** Of a step that cannot be tried again. */
const ONLY_TRY: Allowance = { slack: 2, most: 100 };
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
   * After how long a step has probably used this much CPU time: the share may fall meanwhile. So a run that has been lost
   * and begins again, probably because it was starved, gets more time. Without `timesLost` the step cannot be tried again.
   */
  wallMsFor(cpuMs: number, timesLost?: number): number {
    const { slack, most } = (timesLost === undefined ? ONLY_TRY : TRIES[timesLost]) ?? ONLY_TRY;
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
