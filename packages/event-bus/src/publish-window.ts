import type { OutboxRow } from "./outbox-rows.ts";

/** Events of one workspace that are published and not settled. Enough that a listener always has some of them to store. */
export const MAX_UNSETTLED = 128;
/** A settled notice that has not come within this time is lost, or its listener is down. */
const SETTLED_WITHIN_MS = 30_000;
const MIB = 1024 * 1024;
/** Of the events that wait here, of one workspace and of all. The sweeper publishes what does not fit. */
const MAX_WORKSPACE_BYTES = 16 * MIB;
const MAX_BYTES = 64 * MIB;
/** What an event counts at least, so that their number is bounded, too. */
const MIN_ROW_BYTES = 1024;

interface OfWorkspace {
  unsettled: number;
  waiting: Map<string, OutboxRow>;
  waitingBytes: number;
}

/**
 * Decides when the committed events of an outbox are published. At most 128 of one workspace are under way to their
 * listeners, so that many events of one do not delay those of others, which all travel in one stream. The others wait, and
 * the oldest is next. Of one process; times are on the clock of `performance.now`.
 */
export class PublishWindow {
  /** By the event's id, the oldest first. */
  readonly #unsettled = new Map<string, { workspaceId: string; sinceMs: number }>();
  /** Those with events that are unsettled or waiting. */
  readonly #workspaces = new Map<string, OfWorkspace>();
  #bytes = 0;

  /** Those that may be published now. */
  admit<Row extends OutboxRow>(rows: readonly Row[], nowMs: number): Row[] {
    return rows.filter((row) => {
      if (this.#unsettled.has(row.eventId)) return true;
      const workspace = this.#workspaces.get(row.workspaceId) ?? { unsettled: 0, waiting: new Map(), waitingBytes: 0 };
      this.#workspaces.set(row.workspaceId, workspace);
      const isFree = workspace.unsettled < MAX_UNSETTLED && workspace.waiting.size === 0;
      if (isFree) this.#count(row, workspace, nowMs);
      else this.#wait(row, workspace);
      return isFree;
    });
  }

  /** These events are settled, by any listener: one that is down must not delay the others. Returns what is next. */
  settle(eventIds: readonly string[], nowMs: number): OutboxRow[] {
    const workspaces = this.#remove(eventIds);
    return [...workspaces].flatMap((workspaceId) => this.#next(workspaceId, nowMs));
  }

  /** These events could not be published. */
  forget(rows: readonly OutboxRow[]): void {
    for (const workspaceId of this.#remove(rows.map(({ eventId }) => eventId))) this.#tidy(workspaceId);
  }

  /** Expects no more notices for events that were published too long ago. Returns what is next in all workspaces. */
  expire(nowMs: number): OutboxRow[] {
    const expired: string[] = [];
    for (const [eventId, { sinceMs }] of this.#unsettled) {
      if (nowMs - sinceMs < SETTLED_WITHIN_MS) break;
      expired.push(eventId);
    }
    this.#remove(expired);
    return [...this.#workspaces.keys()].flatMap((workspaceId) => this.#next(workspaceId, nowMs));
  }

  #count({ eventId, workspaceId }: OutboxRow, workspace: OfWorkspace, nowMs: number): void {
    this.#unsettled.set(eventId, { workspaceId, sinceMs: nowMs });
    workspace.unsettled += 1;
  }

  #wait(row: OutboxRow, workspace: OfWorkspace): void {
    const bytes = bytesOf(row);
    if (workspace.waiting.has(row.eventId) || this.#bytes + bytes > MAX_BYTES) return;
    if (workspace.waitingBytes + bytes > MAX_WORKSPACE_BYTES) return;
    workspace.waiting.set(row.eventId, row);
    workspace.waitingBytes += bytes;
    this.#bytes += bytes;
  }

  /** Returns the workspaces of the events. */
  #remove(eventIds: readonly string[]): Set<string> {
    const workspaces = new Set<string>();
    for (const eventId of eventIds) {
      const event = this.#unsettled.get(eventId);
      if (!event) continue;
      this.#unsettled.delete(eventId);
      const workspace = this.#workspaces.get(event.workspaceId);
      if (workspace) workspace.unsettled -= 1;
      workspaces.add(event.workspaceId);
    }
    return workspaces;
  }

  #next(workspaceId: string, nowMs: number): OutboxRow[] {
    const rows: OutboxRow[] = [];
    const workspace = this.#workspaces.get(workspaceId);
    if (!workspace) return rows;
    for (const row of workspace.waiting.values()) {
      if (workspace.unsettled >= MAX_UNSETTLED) break;
      workspace.waiting.delete(row.eventId);
      workspace.waitingBytes -= bytesOf(row);
      this.#bytes -= bytesOf(row);
      this.#count(row, workspace, nowMs);
      rows.push(row);
    }
    this.#tidy(workspaceId);
    return rows;
  }

  #tidy(workspaceId: string): void {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace?.unsettled === 0 && workspace.waiting.size === 0) this.#workspaces.delete(workspaceId);
  }
}

function bytesOf({ bytes }: OutboxRow): number {
  return Math.max(MIN_ROW_BYTES, bytes.length);
}
