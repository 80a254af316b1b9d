import type { GuestSettings } from "../protocol/messages.ts";

const LOOK_EVERY_MS = 20;
const US_PER_MS = 1_000;
const BYTES_PER_MIB = 1024 * 1024;

type MeasuredRun = {
  readonly ticket: number;
  readonly tool: { readonly isolate: Disposable };
  readonly cpuLimitMs: number;
  readonly cpuMs: number;
};
type Stuck = (ticket: number, kind: "cpu" | "memory") => void;

/**
 * Measures the CPU time of the step that is being carried out, and interrupts it when its run has used its share. The
 * engine's own threads count, because a guest that fills its memory keeps them busy and waits for them.
 */
export class StepClock {
  /** Whether the last step was interrupted. */
  wasInterrupted = false;
  readonly #settings: Pick<GuestSettings, "killGraceMs" | "childRssMib">;
  readonly #onStuck: Stuck;
  #run: MeasuredRun | undefined;
  #cpuMsBefore = 0;
  #cpuMsAtInterrupt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: Pick<GuestSettings, "killGraceMs" | "childRssMib">, onStuck: Stuck) {
    this.#settings = settings;
    this.#onStuck = onStuck;
  }

  begin(run: MeasuredRun): void {
    this.#run = run;
    this.#cpuMsBefore = cpuMs();
    this.wasInterrupted = false;
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** The CPU time of the step that has ended. */
  end(): number {
    if (this.#run === undefined) return 0;
    this.#run = undefined;
    return cpuMs() - this.#cpuMsBefore;
  }

  #look(): void {
    const run = this.#run;
    if (run === undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const usedMs = cpuMs() - this.#cpuMsBefore;
    const { killGraceMs, childRssMib } = this.#settings;
    if (process.memoryUsage.rss() > childRssMib * BYTES_PER_MIB) this.#onStuck(run.ticket, "memory");
    else if (!this.wasInterrupted) {
      if (run.cpuMs + usedMs < run.cpuLimitMs) return;
      this.wasInterrupted = true;
      this.#cpuMsAtInterrupt = usedMs;
      run.tool.isolate[Symbol.dispose]();
    } else if (usedMs - this.#cpuMsAtInterrupt >= killGraceMs) this.#onStuck(run.ticket, "cpu");
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / US_PER_MS;
}
