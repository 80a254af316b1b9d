import type { OutboxRow } from "./outbox-rows.ts";

const MIB = 1024 * 1024;
/** Events of one workspace that are published and not settled. Enough that a listener always has some of them to store. */
export const MAX_UNSETTLED = 128;
/** And their bytes: together, the workspaces' events have to fit into what a listener takes at a time. */
const MAX_UNSETTLED_BYTES = 2 * MIB;
/** A settled notice that has not come within this time is lost, or its listener is down. */
const SETTLED_WITHIN_MS = 30_000;
/** Of the events that wait here, of one workspace and of all. The sweeper publishes what does not fit. */
const MAX_WORKSPACE_BYTES = 16 * MIB;
const MAX_BYTES = 64 * MIB;
/** What an event counts at least, so that their number is bounded, too. */
const MIN_ROW_BYTES = 1024;

interface OfWorkspace {
  unsettled: number;
  unsettledBytes: number;
  waiting: Map<string, OutboxRow>;
  waitingBytes: number;
}

interface Unsettled {
  workspaceId: string;
  bytes: number;
  sinceMs: number;
}

/**
 * Decides when the committed events of an outbox are published. At most 128 of one workspace, and about 2 MiB, are under way
 * to their listeners, so that many events of one do not delay those of others, which all travel in one stream. The others
 * wait, and the oldest is next. Of one process; times are on the clock of `performance.now`.
 */
export class PublishWindow {
  /** By the event's id, the oldest first. */
  readonly #unsettled = new Map<string, Unsettled>();
  /** Those with events that are unsettled or waiting. */
  readonly #workspaces = new Map<string, OfWorkspace>();
  /** Those that wait, by the event's id. */
  readonly #waiting = new Map<string, OutboxRow>();
  /** The workspaces with events that wait, in turn. */
  readonly #inTurn = new Set<string>();
  #bytes = 0;

  /** Those that may be published now. */
  admit<Row extends OutboxRow>(rows: readonly Row[], nowMs: number): Row[] {
    return rows.filter((row) => {
      if (this.#unsettled.has(row.eventId)) return true;
      const workspace = this.#workspaceOf(row.workspaceId);
      const isFree = hasRoom(workspace) && workspace.waiting.size === 0;
      if (isFree) this.#count(row, workspace, nowMs);
      else this.#wait(row, workspace);
      return isFree;
    });
  }

  /** These events are settled, by any listener: one that is down must not delay the others. */
  settle(eventIds: readonly string[]): void {
    for (const eventId of eventIds) {
      this.#remove(eventId);
      // A replica has published it.
      this.#take(eventId);
    }
  }

  /** These events could not be published. */
  forget(rows: readonly OutboxRow[]): void {
    for (const { eventId } of rows) this.#remove(eventId);
  }

  /** Expects no more notices for events that were published too long ago. */
  expire(nowMs: number): void {
    for (const [eventId, { sinceMs }] of this.#unsettled) {
      if (nowMs - sinceMs < SETTLED_WITHIN_MS) break;
      this.#remove(eventId);
    }
  }

  /** What is published next: of workspaces in turn, as much as has so many bytes, but one event at least if there is one. */
  next(maxBytes: number, nowMs: number): OutboxRow[] {
    const rows: OutboxRow[] = [];
    let bytes = 0;
    for (const workspaceId of [...this.#inTurn]) {
      const workspace = this.#workspaceOf(workspaceId);
      for (const row of workspace.waiting.values()) {
        if (!hasRoom(workspace)) break;
        if (rows.length > 0 && bytes + row.bytes.length > maxBytes) return rows;
        bytes += row.bytes.length;
        rows.push(row);
        this.#count(row, workspace, nowMs);
        this.#take(row.eventId);
      }
      if (this.#inTurn.delete(workspaceId)) this.#inTurn.add(workspaceId);
    }
    return rows;
  }

  #workspaceOf(workspaceId: string): OfWorkspace {
    const known = this.#workspaces.get(workspaceId);
    if (known) return known;
    const workspace = { unsettled: 0, unsettledBytes: 0, waiting: new Map(), waitingBytes: 0 };
    this.#workspaces.set(workspaceId, workspace);
    return workspace;
  }

  #count(row: OutboxRow, workspace: OfWorkspace, nowMs: number): void {
    const bytes = bytesOf(row);
    this.#unsettled.set(row.eventId, { workspaceId: row.workspaceId, bytes, sinceMs: nowMs });
    workspace.unsettled += 1;
    workspace.unsettledBytes += bytes;
  }

  #wait(row: OutboxRow, workspace: OfWorkspace): void {
    const bytes = bytesOf(row);
    if (workspace.waiting.has(row.eventId) || this.#bytes + bytes > MAX_BYTES) return;
    if (workspace.waitingBytes + bytes > MAX_WORKSPACE_BYTES) return;
    workspace.waiting.set(row.eventId, row);
    workspace.waitingBytes += bytes;
    this.#bytes += bytes;
    this.#waiting.set(row.eventId, row);
    this.#inTurn.add(row.workspaceId);
  }

  #take(eventId: string): void {
    const row = this.#waiting.get(eventId);
    if (!row) return;
    this.#waiting.delete(eventId);
    const { workspaceId } = row;
    const workspace = this.#workspaceOf(workspaceId);
    workspace.waiting.delete(eventId);
    const bytes = bytesOf(row);
    workspace.waitingBytes -= bytes;
    this.#bytes -= bytes;
    if (workspace.waiting.size === 0) this.#inTurn.delete(workspaceId);
    this.#tidy(workspaceId, workspace);
  }

  #remove(eventId: string): void {
    const event = this.#unsettled.get(eventId);
    if (!event) return;
    this.#unsettled.delete(eventId);
    const workspace = this.#workspaceOf(event.workspaceId);
    workspace.unsettled -= 1;
    workspace.unsettledBytes -= event.bytes;
    this.#tidy(event.workspaceId, workspace);
  }

  #tidy(workspaceId: string, workspace: OfWorkspace): void {
    if (workspace.unsettled === 0 && workspace.waiting.size === 0) this.#workspaces.delete(workspaceId);
  }
}

function hasRoom({ unsettled, unsettledBytes }: OfWorkspace): boolean {
  return unsettled < MAX_UNSETTLED && unsettledBytes < MAX_UNSETTLED_BYTES;
}

function bytesOf({ bytes }: OutboxRow): number {
  return Math.max(MIN_ROW_BYTES, bytes.length);
}
