const US_PER_MS = 1_000;

/** How long a step has taken so far, and the CPU time that it has used. */
export type StepReading = { readonly tookMs: number; readonly cpuMs: number };

/**
 * Measures a step from now on. Returns a function that reads it. The CPU time is at most that of one processor; the
 * engine's own threads count, because a guest that fills its memory keeps them busy and waits for them. (isolated-vm's
 * `cpuTime` is no use: its published binaries for Linux measure wall-clock time.)
 */
export function startStep(): () => StepReading {
  const begun = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const tookMs = performance.now() - begun;
    return { tookMs, cpuMs: Math.min(tookMs, (user + system) / US_PER_MS) };
  };
}
