import type { EntryType } from "../domain/definitions/release.ts";
import type { RecordedWrite } from "./withheld.ts";

/** What one call from outside sets up, and every run inside it shares. */
export interface RunScope {
  workspaceId: string;
  /** The workspace's code. */
  workspace: string;
  epoch: bigint;
  /** [RO-1] [RO-2] Decided by the tool that was called from outside; nested runs inherit it. */
  readOnly: boolean;
  testMode: boolean;
  /** Set in a dry run: collects what is not done. */
  dryRun: RecordedWrite[] | undefined;
  entryType: EntryType;
  chatId: string;
  callerId: string;
  /** [TOOL-40] Arguments that the server adds to every run. */
  injected: Record<string, unknown>;
  /** [LOOP-2] 1, or 2 in a run that an incoming hook triggered. */
  hop: number;
  /** [EVT] Custom events that the call may still emit. */
  eventsLeft: number;
  /** Mails that the call may still send. */
  mailsLeft: number;
  /** Values of secrets that were put into calls; they are removed from whatever is kept or shown. */
  usedSecrets: Set<string>;
  /** performance.now() at which the call must have ended. */
  deadline: number;
  /** Log records under way; the call is answered once all are durable. */
  records: Promise<void>[];
}

export const MAX_EVENTS_PER_CALL = 20;
export const MAX_MAILS_PER_CALL = 10;
export const MAX_NESTING = 8;

/** Ends a run with a message that the tool may see and the execution log keeps. Callers from outside never see it. */
export class ToolError extends Error {
  readonly code: string;
  /** For the execution log alone, never for the tool or an event: what a database said, for instance. */
  readonly detail: string | undefined;

  constructor(code: string, message: string, detail?: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
    this.detail = detail;
  }
}

/** A run that was refused before any of its code ran: it may be tried again. */
export class NotStarted extends Error {}
