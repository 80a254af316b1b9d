import type { Item } from "./queue-state.ts";

/** An attempt on its way to a worker. */
export interface Send {
  item: Item;
  notAfterMs: number;
}

/** Its result on the way back. */
export interface Sent {
  item: Item;
  /** 0: there was no response. */
  status: number;
  endedMs: number;
}
