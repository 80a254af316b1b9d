import { type Clock, ShareExceeded, type ShareLimits, type Turn } from "./turn.ts";

interface Waiting {
  bytes: number;
  fixedBytes: number;
  start: (turn: Turn) => void;
}

/** How fast the usual size of a workspace's work follows that of its latest work. */
const RISE = 0.5;
const FALL = 0.1;
const MS_PER_SECOND = 1_000;
/** A longer timer would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The share of one workspace. Negative `#balance`: it has used more than its share. */
export class ShareAccount {
  readonly #limits: ShareLimits;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #balance: number;
  #atMs: number;
  #running = 0;
  /** What a piece of work usually uses. */
  #usual: number;
  #cancelTimer: (() => void) | undefined;

  constructor(limits: ShareLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#balance = limits.burstBytes;
    this.#usual = limits.unknownBytes ?? 0;
    this.#atMs = clock.nowMs();
  }

  begin(bytes: number, fixedBytes: number, signalOf: (() => AbortSignal) | undefined): Turn | Promise<Turn> {
    if (this.#waiting.length === 0 && this.#mayStart()) return this.#start(bytes, fixedBytes);
    const signal = signalOf?.();
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#waiting.length >= this.#limits.maxWaiting) return Promise.reject(this.#exceeded());
    return this.#wait(bytes, fixedBytes, signal);
  }

  charge(bytes: number, fixedBytes: number): void {
    this.#refill();
    this.#balance -= this.#counted(bytes) + fixedBytes;
  }

  isIdle(): boolean {
    this.#refill();
    return this.#running === 0 && this.#waiting.length === 0 && this.#balance >= this.#limits.burstBytes;
  }

  #wait(bytes: number, fixedBytes: number, signal: AbortSignal | undefined): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        end();
        reject(reason);
      };
      const abort = () => leave(signal?.reason);
      const cancelDeadline = this.#clock.after(this.#limits.maxWaitMs, () => leave(this.#exceeded()));
      const end = () => {
        cancelDeadline();
        signal?.removeEventListener("abort", abort);
        if (this.#waiting.length === 0) this.#stopTimer();
      };
      const waiting: Waiting = {
        bytes,
        fixedBytes,
        start: (turn) => {
          end();
          resolve(turn);
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.push(waiting);
      this.#schedule();
    });
  }

  #start(bytes: number, fixedBytes: number): Turn {
    const reserved = Math.max(this.#counted(bytes), this.#usual) + fixedBytes;
    this.#balance -= reserved;
    this.#running += 1;
    let used = bytes;
    let ended = false;
    return {
      charge: (more) => {
        used += more;
      },
      [Symbol.dispose]: () => {
        if (ended) return;
        ended = true;
        this.#end(reserved - fixedBytes, this.#counted(used));
      },
    };
  }

  #end(reserved: number, used: number): void {
    this.#refill();
    this.#running -= 1;
    this.#balance = Math.min(this.#balance + reserved - used, this.#limits.burstBytes);
    this.#usual += (used - this.#usual) * (used > this.#usual ? RISE : FALL);
    this.#startWaiting();
  }

  #counted(bytes: number): number {
    return Math.max(0, bytes - (this.#limits.freeBytes ?? 0));
  }

  #mayStart(): boolean {
    this.#refill();
    return this.#balance > 0 && this.#running < (this.#limits.maxRunning ?? Number.POSITIVE_INFINITY);
  }

  #refill(): void {
    const nowMs = this.#clock.nowMs();
    const earned = ((nowMs - this.#atMs) / MS_PER_SECOND) * this.#limits.bytesPerSecond;
    this.#balance = Math.min(this.#limits.burstBytes, this.#balance + earned);
    this.#atMs = nowMs;
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#mayStart()) {
      const next = this.#waiting.shift();
      next?.start(this.#start(next.bytes, next.fixedBytes));
    }
    // The debt may have become smaller, when work used less than it had reserved.
    this.#stopTimer();
    this.#schedule();
  }

  /**
   * The end of other work starts what waits for it; only a debt needs a timer. Uses the balance with which `#mayStart` said
   * no: if time were counted in between, the debt could be paid by now, and nothing would start the work.
   */
  #schedule(): void {
    if (this.#waiting.length === 0 || this.#cancelTimer || this.#balance > 0) return;
    this.#cancelTimer = this.#clock.after(this.#msUntilPaid(), () => {
      this.#cancelTimer = undefined;
      this.#startWaiting();
    });
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** At least one byte more than the debt, so that it is paid then. */
  #msUntilPaid(): number {
    const ms = Math.ceil(((1 - this.#balance) / this.#limits.bytesPerSecond) * MS_PER_SECOND);
    return Math.min(ms, MAX_TIMER_MS);
  }

  #exceeded(): ShareExceeded {
    this.#refill();
    const seconds = Math.ceil(Math.max(0, -this.#balance) / this.#limits.bytesPerSecond);
    return new ShareExceeded(Math.max(1, seconds));
  }
}
