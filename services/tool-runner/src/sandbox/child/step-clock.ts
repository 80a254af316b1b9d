const US_PER_MS = 1_000;

/**
 * Measures a step from now on. Returns what reads it: how long it took, and the CPU time that it used. The engine's threads
 * count too, because a guest that fills its memory keeps them busy and waits for them. (isolated-vm's own count is no use:
 * its published binaries for Linux count time.)
 */
export function startStep(): () => { tookMs: number; cpuMs: number } {
  const begun = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const tookMs = performance.now() - begun;
    return { tookMs, cpuMs: Math.min(tookMs, (user + system) / US_PER_MS) };
  };
}
