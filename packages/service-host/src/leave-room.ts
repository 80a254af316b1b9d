import { setTimeout } from "node:timers/promises";
import type { Message } from "@bufbuild/protobuf";
import type { ListValue } from "@bufbuild/protobuf/wkt";

/** A call of another workspace takes about this long while nothing else happens. */
const ROOM_MS = 4;
const MANY_ENTRIES = 20;

/** For each workspace that leaves room, when the last of its pieces of work may continue. */
const lastOf = new Map<string, Promise<void>>();

/**
 * Resolves after a few milliseconds, in which others get on with their work. Call it between pieces of work that take
 * milliseconds each, such as making and encoding a large page: without it, each step of another's call waits for a piece.
 * Pieces of one workspace continue one after another; those of different workspaces do not wait for each other.
 */
export async function leaveRoom(workspaceId: string): Promise<void> {
  const turn = afterRoom(lastOf.get(workspaceId));
  lastOf.set(workspaceId, turn);
  await turn;
  if (lastOf.get(workspaceId) === turn) lastOf.delete(workspaceId);
}

async function afterRoom(previous: Promise<void> | undefined): Promise<void> {
  await previous;
  await setTimeout(ROOM_MS);
}

/** Whether a response has a list with so many entries that encoding it may take milliseconds, also one of JSON values. */
export function isLargePage(response: Message): boolean {
  const fields: unknown[] = Object.values(response);
  return fields.some((field) => hasManyEntries(field) || hasManyEntries((field as Partial<ListValue> | null)?.values));
}

function hasManyEntries(value: unknown): boolean {
  return Array.isArray(value) && value.length >= MANY_ENTRIES;
}
