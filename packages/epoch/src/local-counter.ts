/** Counts calls per key or hook and minute in this process alone, while Redis is down. */
interface LocalCounter {
  /** Counts a call if the minute has room and `count` is set. */
  take(id: string, minute: number, limit: number, count: boolean): { admitted: boolean; used: number };
}

export function createLocalCounter(): LocalCounter {
  let currentMinute = 0;
  let counts = new Map<string, number>();
  return {
    take(id, minute, limit, count) {
      if (minute !== currentMinute) {
        currentMinute = minute;
        counts = new Map();
      }
      const used = counts.get(id) ?? 0;
      if (!count) return { admitted: true, used };
      if (used >= limit) return { admitted: false, used };
      counts.set(id, used + 1);
      return { admitted: true, used: used + 1 };
    },
  };
}
