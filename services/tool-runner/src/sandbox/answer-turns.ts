import type { InTurn } from "./outcome.ts";

/** After an answer this long, or while so much is on its way, the run's next one waits for a turn of the event loop. */
const HEAVY_CHARS = 64 * 1024;

/** Lets the answers to one run's host calls be made: light ones at once, heavy ones one by one and with bounded sum. */
export type AnswerTurns = {
  inTurn: InTurn;
  /** An answer of this length is on its way into the run. */
  sent: (chars: number) => void;
  /** The run has taken an answer of this length. */
  taken: (chars: number) => void;
  /** The run has ended: nobody waits for its answers any more. */
  end: () => void;
};

type Waiter = { make: () => void; drop: () => void };

export function createAnswerTurns(maxChars: number): AnswerTurns {
  let waiting: Waiter[] = [];
  let charsOnTheWay = 0;
  let scheduled = false;
  let ended = false;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(serveNext);
  };
  const serveNext = () => {
    scheduled = false;
    if (waiting.length === 0 || charsOnTheWay >= maxChars) return;
    waiting.shift()?.make();
    schedule();
  };
  const inTurn: InTurn = (encode) =>
    new Promise((resolve, reject) => {
      const drop = () => resolve("null");
      const make = () => {
        try {
          const json = encode();
          if (json.length >= HEAVY_CHARS) schedule();
          resolve(json);
        } catch (error) {
          reject(error);
        }
      };
      if (ended) return drop();
      if (!scheduled && waiting.length === 0 && charsOnTheWay < HEAVY_CHARS) return make();
      waiting.push({ make, drop });
      schedule();
    });
  return {
    inTurn,
    sent: (chars) => {
      charsOnTheWay += chars;
    },
    taken: (chars) => {
      charsOnTheWay -= chars;
      if (waiting.length > 0) schedule();
    },
    end: () => {
      ended = true;
      for (const { drop } of waiting) drop();
      waiting = [];
    },
  };
}
