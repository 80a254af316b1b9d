/** Work that callers who ask for the same thing share. What fails, fails for those who shared it, and is not kept. */
export interface SharedWork<T> {
  /** Joins the work under way. */
  join(name: string, work: () => Promise<T>): Promise<T>;
  /** Joins only work that has not begun: nobody is told what was found out before it asked. */
  joinLater(name: string, work: () => Promise<T>): Promise<T>;
}

export function createSharedWork<T>(): SharedWork<T> {
  const underWay = new Map<string, Promise<T>>();
  const waiting = new Map<string, Promise<T>>();

  function begin(name: string, work: () => Promise<T>): Promise<T> {
    const begun = work().finally(() => underWay.delete(name));
    underWay.set(name, begun);
    return begun;
  }

  return {
    join: (name, work) => underWay.get(name) ?? begin(name, work),
    joinLater(name, work) {
      const joined = waiting.get(name);
      if (joined) return joined;
      const before = underWay.get(name);
      if (!before) return begin(name, work);
      const beginAfter = () => {
        waiting.delete(name);
        return begin(name, work);
      };
      const later = before.then(beginAfter, beginAfter);
      waiting.set(name, later);
      return later;
    },
  };
}
