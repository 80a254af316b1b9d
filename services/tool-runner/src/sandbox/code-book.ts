import type { ToChild } from "./protocol.ts";

const MAX_CODES_PER_CHILD = 1_000;

/** Which tools a child knows, so that code travels once per child and not with every run. */
export type CodeBook = { idOf: (key: string, code: string) => number };

export function createCodeBook(send: (message: ToChild) => void): CodeBook {
  const ids = new Map<string, number>();
  let nextId = 1;
  return {
    idOf: (key, code) => {
      const known = ids.get(key);
      if (known !== undefined) {
        // Maps keep the order of insertion: the first is the one that was unused for longest.
        ids.delete(key);
        ids.set(key, known);
        return known;
      }
      const [oldest] = ids;
      if (ids.size >= MAX_CODES_PER_CHILD && oldest !== undefined) {
        ids.delete(oldest[0]);
        send(["forget", oldest[1]]);
      }
      ids.set(key, nextId);
      send(["define", nextId, code]);
      return nextId++;
    },
  };
}
