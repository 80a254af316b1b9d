import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";

export const SCHEMA = "chat";

/** Turns of users, and turns that incoming hooks start, each with a queue of its own. */
export type Lane = "chat" | "hook";
export const LANES: readonly Lane[] = ["chat", "hook"];

const TURN_MS = 20_000;
/** A workspace has one member: its turns take their places in order of arrival. */
export const ONLY_MEMBER = 0;

/** Longest wait for the lock of a workspace's queue, in transactions of which each takes milliseconds. */
export const LOCK_TIMEOUT_MS = 10_000;

/**
 * The queue of a lane's turns that may start, which is at most one per chat: a group is a workspace. When a turn ends, the
 * next one of its chat is added.
 */
export interface TurnQueue extends FairQueue {
  lane: Lane;
}

export type TurnQueues = Readonly<Record<Lane, TurnQueue>>;

export function turnQueues(turnsPerWorkspace: number): TurnQueues {
  const queue = (lane: Lane) => ({
    lane,
    tables: `${SCHEMA}.${lane}_queue`,
    caps: { perGroup: turnsPerWorkspace },
    turnMs: TURN_MS,
  });
  return { chat: queue("chat"), hook: queue("hook") };
}
