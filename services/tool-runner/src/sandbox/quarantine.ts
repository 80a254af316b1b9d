const MAX_SUSPECTS = 10_000;

/** Tool versions that overran a limit lately; they run apart from the others for a while. */
export type Quarantine = { suspect: (key: string) => void; holds: (key: string) => boolean };

export function createQuarantine(now: () => number, durationMs: number): Quarantine {
  const until = new Map<string, number>();
  return {
    suspect: (key) => {
      until.delete(key);
      until.set(key, now() + durationMs);
      const [oldest] = until.keys();
      if (until.size > MAX_SUSPECTS && oldest !== undefined) until.delete(oldest);
    },
    holds: (key) => {
      const end = until.get(key);
      if (end === undefined) return false;
      if (end > now()) return true;
      until.delete(key);
      return false;
    },
  };
}
