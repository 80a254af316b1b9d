/**
 * Resolves with the first SIGTERM or SIGINT. The listeners are not removed: a terminal and npm may send a signal twice, and the second must not cut the drain
 * short.
 */
export function untilStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
}
