const MIN_SHARE = 0.02;
const SLACK = 2;
/** A step of this time or more says what the share is now; a shorter one counts in proportion. */
const FULL_WEIGHT_MS = 200;
const US_PER_MS = 1_000;

/**
 * The share of a core that this process gets. The engine interrupts by the clock, but a run's limit is in CPU time: on a
 * busy machine a step needs more time for the same work.
 */
export class CpuShare {
  #share: number;

  /** The share that this process has had since it began to start: call it at the end of the start. */
  static ofStart(): CpuShare {
    const { user, system } = process.cpuUsage();
    return new CpuShare((user + system) / US_PER_MS / performance.now());
  }

  constructor(share = 1) {
    this.#share = Math.min(1, Math.max(MIN_SHARE, share));
  }

  /** A step has used this much. */
  observe(cpuMs: number, wallMs: number): void {
    if (wallMs <= 0) return;
    const share = Math.min(1, Math.max(MIN_SHARE, cpuMs / wallMs));
    this.#share += (share - this.#share) * Math.min(1, wallMs / FULL_WEIGHT_MS);
  }

  /** After how long a step has certainly used this much CPU time, unless the share falls further meanwhile. */
  wallMsFor(cpuMs: number): number {
    return Math.ceil((SLACK * cpuMs) / this.#share);
  }
}
