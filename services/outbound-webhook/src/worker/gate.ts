/** Lets a bounded number in at once; the others wait in the order in which they came. */
export interface Gate {
  enter(): Promise<void>;
  leave(): void;
}

export function createGate(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  return {
    async enter() {
      if (free > 0) {
        free -= 1;
        return;
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    },
  };
}
