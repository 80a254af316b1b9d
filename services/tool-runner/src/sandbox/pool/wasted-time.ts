import { growingCache } from "@toolgate/growing-cache/growing-cache";
import type { PoolLimits } from "../limits.ts";
import { CpuUsage } from "./cpu-usage.ts";
import type { SandboxRun } from "./run.ts";

/** How much a run that exceeds a limit counts in the average, and one that does not. */
const LEARNING = { wasted: 0.5, harmless: 0.2 };
/** Code that wastes less on average is not suspect any more. */
const MIN_EXPECTED_MS = 1;
const MAX_REMEMBERED = 100_000;

/**
 * The CPU time of runs that were ended for exceeding a limit. A workspace may waste some; then code that is expected to
 * waste more waits until the processors have been left to others for a while. Its other code is not affected.
 *
 * What code is expected to waste is an average over its runs, so a tool that rarely exceeds a limit soon counts as
 * harmless. Code that is new is expected to do what other new code of its workspace did, or saving it again would help.
 */
export class WastedTime {
  readonly #usage: CpuUsage;
  /** By workspace: what the runs under way are expected to waste. */
  readonly #reserved = new Map<string, number>();
  /** In milliseconds per run, by code; by workspace for its new code. */
  readonly #expected = growingCache<string, number>(MAX_REMEMBERED);
  readonly #allowedMs: number;

  constructor(now: () => number, { wastedMs, wastedHalfLifeMs }: Pick<PoolLimits, "wastedMs" | "wastedHalfLifeMs">) {
    this.#usage = new CpuUsage(now, wastedHalfLifeMs);
    this.#allowedMs = wastedMs;
  }

  isSuspect(run: SandboxRun): boolean {
    return this.#expectedMs(run) > 0;
  }

  mustWait(run: SandboxRun): boolean {
    const { workspaceId } = run.request;
    const expectedMs = this.#expectedMs(run);
    const usedMs = this.#usage.of(workspaceId) + (this.#reserved.get(workspaceId) ?? 0);
    return expectedMs > 0 && usedMs + expectedMs > this.#allowedMs;
  }

  /** The run is placed. */
  begin(run: SandboxRun): void {
    run.expectedWasteMs = this.#expectedMs(run);
    this.#reserve(run, run.expectedWasteMs);
  }

  /** The run has ended, or waits again. */
  end(run: SandboxRun): void {
    this.#reserve(run, -run.expectedWasteMs);
    run.expectedWasteMs = 0;
  }

  /** Learns from a run that came to an end by itself (0), or exceeded a limit after this much CPU time. */
  learn({ request: { codeKey, workspaceId, standing } }: SandboxRun, wastedMs: number): void {
    this.#usage.charge(workspaceId, wastedMs);
    const weight = wastedMs > 0 ? LEARNING.wasted : LEARNING.harmless;
    for (const key of standing === "new" ? [codeKey, workspaceId] : [codeKey]) {
      const before = this.#expected.get(key) ?? 0;
      const after = before + (wastedMs - before) * weight;
      if (after >= MIN_EXPECTED_MS) this.#expected.set(key, after);
      else if (before > 0) this.#expected.delete(key);
    }
  }

  #expectedMs({ request: { codeKey, workspaceId, standing } }: SandboxRun): number {
    if (this.#expected.size === 0) return 0;
    const ofWorkspace = standing === "new" ? this.#expected.get(workspaceId) : undefined;
    // Or a run that wastes more than the allowance would wait for ever.
    return Math.min(this.#expected.get(codeKey) ?? ofWorkspace ?? 0, this.#allowedMs / 2);
  }

  #reserve({ request: { workspaceId } }: SandboxRun, byMs: number): void {
    if (byMs === 0) return;
    const reserved = (this.#reserved.get(workspaceId) ?? 0) + byMs;
    // Sums of fractions may end slightly beside 0.
    if (reserved > MIN_EXPECTED_MS / 2) this.#reserved.set(workspaceId, reserved);
    else this.#reserved.delete(workspaceId);
  }
}
