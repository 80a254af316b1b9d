import { SMALL_TURN_BYTES } from "../../domain/turn.ts";

/**
 * Keeps the large turns of one workspace from filling the memory of this process: those that do not fit wait, first come
 * first served. Bytes are those of texts and files as they are stored. A turn has up to five times as many in memory: once
 * as they are, once in the request's JSON, and once in what is sent to the model.
 */
export interface TurnMemory {
  of(workspaceId: string): HeldMemory;
}

/** The memory of one turn, which it gives back when it is disposed. Nothing is counted for a small turn. */
export interface HeldMemory extends Disposable {
  /** Resolves once the turn may have this much more. Rejects with the signal's reason. */
  add(bytes: number, signal: AbortSignal): Promise<void>;
}

/** Two of the largest files, and some texts. */
const WORKSPACE_BYTES = 48 * 1024 * 1024;

interface Holder {
  held: number;
  wanted: number;
  /** While it waits. */
  start: (() => void) | undefined;
}

export function createTurnMemory(maxBytes = WORKSPACE_BYTES): TurnMemory {
  /** The large turns of each workspace, oldest first. */
  const workspaces = new Map<string, Set<Holder>>();
  return {
    of(workspaceId) {
      const holder: Holder = { held: 0, wanted: 0, start: undefined };
      return {
        async add(bytes, signal) {
          signal.throwIfAborted();
          holder.wanted += bytes;
          if (holder.wanted <= SMALL_TURN_BYTES) return;
          const holders = workspaces.get(workspaceId) ?? new Set();
          workspaces.set(workspaceId, holders.add(holder));
          await untilStarted(holders, holder, signal);
        },
        [Symbol.dispose]() {
          const holders = workspaces.get(workspaceId);
          if (!holders?.delete(holder)) return;
          if (holders.size === 0) workspaces.delete(workspaceId);
          startWaiting(holders);
        },
      };
    },
  };

  function untilStarted(holders: ReadonlySet<Holder>, holder: Holder, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        holder.start = undefined;
        reject(signal.reason);
        startWaiting(holders);
      };
      signal.addEventListener("abort", abort, { once: true });
      holder.start = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      startWaiting(holders);
    });
  }

  function startWaiting(holders: ReadonlySet<Holder>): void {
    let held = 0;
    let running = 0;
    for (const holder of holders) {
      held += holder.held;
      if (!holder.start) running += 1;
    }
    for (const holder of holders) {
      const { start, wanted } = holder;
      if (!start) continue;
      held += wanted - holder.held;
      // If all of them wait for more, only the oldest gets it, and gives back everything at its end.
      if (held > maxBytes && running > 0) return;
      running += 1;
      holder.held = wanted;
      holder.start = undefined;
      start();
    }
  }
}
