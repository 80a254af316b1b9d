import type { Findings } from "./finding.ts";

/** Signed texts of services are refused above 5 s. */
const MAX_OFFSET_MS = 3_000;

/** Compares clocks with that of this machine. */
export interface Clocks {
  now(): number;
  /**
   * `theirs` was read between `sentAt` and now; it is in steps of `stepMs`. A slow response makes the comparison less
   * exact, not the clock wrong.
   */
  compare(whose: string, theirs: number, sentAt: number, stepMs: number): void;
}

export function createClocks(now: () => number, findings: Findings): Clocks {
  return {
    now,
    compare(whose, theirs, sentAt, stepMs) {
      const behind = sentAt - (theirs + stepMs);
      const ahead = theirs - now();
      const offset = Math.max(behind, ahead);
      if (offset <= MAX_OFFSET_MS) return;
      findings.add(
        "clocks",
        `the clock of ${whose} is ${Math.round(offset / 1_000)} s ${ahead > 0 ? "ahead of" : "behind"} this machine's`,
        "Run NTP (chrony or systemd-timesyncd) on all machines; tokens of services are refused when clocks differ by more than 5 s.",
      );
    },
  };
}
