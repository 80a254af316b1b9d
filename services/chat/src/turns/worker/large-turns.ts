import { createSlots } from "@toolgate/slots/slots";
import { SMALL_TURN_BYTES } from "../../domain/turn.ts";
import { UNLIMITED } from "../queue-slots.ts";

/** Turns with much text or a file that this process has in memory at a time; each may take 100 MB. */
const LARGE_TURNS = 8;

/** Bounds the memory of turns. */
export interface LargeTurns {
  of(workspaceId: string): TurnSize;
}

/** The size of one turn. Dispose it when the turn has ended. */
export interface TurnSize extends Disposable {
  /** Resolves once the turn may have this much more in memory. Rejects with the signal's reason. */
  add(bytes: number, signal: AbortSignal): Promise<void>;
}

export function createLargeTurns(): LargeTurns {
  const slots = createSlots(LARGE_TURNS, UNLIMITED);
  return {
    of(workspaceId) {
      let size = 0;
      let slot: Disposable | undefined;
      return {
        async add(bytes, signal) {
          size += bytes;
          signal.throwIfAborted();
          if (slot || size <= SMALL_TURN_BYTES) return;
          slot = await slots.take(workspaceId, signal);
          signal.throwIfAborted();
        },
        [Symbol.dispose]: () => slot?.[Symbol.dispose](),
      };
    },
  };
}
