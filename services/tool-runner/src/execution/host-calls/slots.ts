import { createSlots } from "@toolgate/slots/slots";
import { ToolError } from "../errors.ts";

/** What host calls occupy while they last, and how many may do so at a time in this process. */
const KINDS = {
  /** Connections of this service's own pool, perhaps while a sheet is locked; the others stay free for loading tools. */
  sheets: 6,
  /** Responses that are being received, of up to 1 MiB each. */
  outgoing: 256,
} as const;
const WAITING = { maxWaiting: 1_000, maxWaitMs: 60_000 };

export type HostCallSlots = ReturnType<typeof createHostCallSlots>;

/** Bounds what the host calls of all runs hold, so that no workspace takes all of it. */
export function createHostCallSlots() {
  const slots = { sheets: createSlots(KINDS.sheets, WAITING), outgoing: createSlots(KINDS.outgoing, WAITING) };
  return {
    /** Rejects with a ToolError when too many calls of the workspace wait, or the signal ends the wait. */
    async take(kind: keyof typeof KINDS, workspaceId: string, signal: AbortSignal): Promise<Disposable> {
      const slot = await slots[kind].take(workspaceId, signal);
      if (slot) return slot;
      if (!signal.aborted)
        throw new ToolError("TOO_MANY_WAITING", "too many calls of the workspace are waiting: try again later");
      const isTimeUp = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
      throw isTimeUp
        ? new ToolError("TIMEOUT", "the time was used up while the call waited")
        : new ToolError("CANCELLED", "the run has ended");
    },
  };
}
