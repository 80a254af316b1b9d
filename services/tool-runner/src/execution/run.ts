import type { KeyCaller } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { UsedSecrets } from "../domain/calls/remove-secrets.ts";
import type { EntryType } from "../domain/definitions/release.ts";
import type { HostCallEntry } from "../domain/host-functions.ts";
import type { RecordedWrites } from "./recorded-writes.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

/** A call whose usage record is published together with the record of its run. */
export interface ReportedCall {
  caller: KeyCaller;
  /** performance.now() at which the call came from the gateway. */
  receivedMs: number;
}

/** What a run may do. A call from outside sets it up; every run inside the call shares it. */
export interface RunScope {
  workspaceId: string;
  /** The workspace's code. */
  workspace: string;
  epoch: bigint;
  /** [RO-1] [RO-2] Decided by the tool that was called from outside; nested runs inherit it. */
  readOnly: boolean;
  testMode: boolean;
  /** Set in a dry run: collects the writes that are not made. */
  dryRun: RecordedWrites | undefined;
  entryType: EntryType;
  chatId: string;
  callerId: string;
  /** [TOOL-40] Arguments that the server adds to every run. */
  injected: Record<string, unknown>;
  /** [LOOP-2] 1, or 2 in a run that a hook triggered. */
  hop: number;
  /** [CHAT-10] Tools of which test mode suppressed writes. */
  suppressed: Set<string>;
  /** [EVT] Custom events that the call may still emit. */
  eventsLeft: number;
  emailsLeft: number;
  /** The secrets that the call has sent; they are removed from everything that is stored or shown. */
  usedSecrets: UsedSecrets;
  /** performance.now() at which the call must have ended. */
  deadline: number;
  /** Log records that are being published; the response waits until all are stored. */
  records: Promise<void>[];
  /** Undefined when no usage record is needed, or the caller publishes it. */
  reportedCall: ReportedCall | undefined;
}

const MAX_EVENTS_PER_CALL = 20;
const MAX_EMAILS_PER_CALL = 10;

type Unused = "suppressed" | "eventsLeft" | "emailsLeft" | "usedSecrets" | "deadline" | "records";

/** The scope of a call that begins now. */
export function createRunScope(given: Omit<RunScope, Unused>, timeoutMs: number): RunScope {
  return {
    ...given,
    eventsLeft: MAX_EVENTS_PER_CALL,
    emailsLeft: MAX_EMAILS_PER_CALL,
    suppressed: new Set(),
    usedSecrets: new UsedSecrets(),
    deadline: performance.now() + timeoutMs,
    records: [],
  };
}

/** The time that the call has left; at least 1 ms, so that it can be used as a timeout. */
export function remainingMs({ deadline }: Pick<RunScope, "deadline">): number {
  return Math.max(1, deadline - performance.now());
}

/** Fires when the time is up or the run has ended. */
export function endOf(timeoutMs: number, signal: AbortSignal | undefined): AbortSignal {
  const timeUp = AbortSignal.timeout(Math.ceil(timeoutMs));
  return signal ? AbortSignal.any([timeUp, signal]) : timeUp;
}

/** One execution of a tool. */
export interface Run {
  id: string;
  /** Empty for a run that was started from outside. */
  parentId: string;
  /** 1 for a run that was started from outside. */
  depth: number;
  /** Ends when the run that called it ends. */
  signal: AbortSignal | undefined;
  tool: LoadedTool;
  scope: RunScope;
  startedAtMs: number;
  /** performance.now() at the same time, to measure from. */
  startedMs: number;
  /** Stored next to the error in the log, and shown nowhere else; see `addDetail`. */
  details: string[];
  hostCalls: HostCallEntry[];
  logs: string[];
  /** A platform failure in one of the run's host calls. If the tool then fails, this is the reason. */
  platformFailure: Error | undefined;
}

export interface FinishedRun extends Omit<Run, "platformFailure"> {
  durationMs: number;
  args: RedactedJson;
  /** Undefined when the run failed. */
  resultJson: string | undefined;
  /** The platform failure that ended the run, if any. */
  platformFailure: unknown;
  result: RedactedJson;
  /** Empty when the run succeeded. */
  error: string;
}

const MAX_DETAIL_CHARACTERS = 2_000;
const MAX_DETAILS_CHARACTERS = 4_000;

/** Keeps the beginning of a detail, which a server may have written. Once there are enough for the log, drops the others. */
export function addDetail({ details }: Pick<Run, "details">, detail: string): void {
  const kept = details.reduce((sum, { length }) => sum + length, 0);
  if (kept < MAX_DETAILS_CHARACTERS) details.push(truncated(detail, MAX_DETAIL_CHARACTERS));
}

/** The beginning of a text, well-formed. It is a copy, because a slice would keep the whole text in memory. */
export function truncated(text: string, maxChars: number): string {
  return Buffer.from(text.slice(0, maxChars)).toString();
}

/** Arguments or a result as the log and events may show them; redacted when first needed. */
export interface RedactedJson {
  /** Length of the JSON text before redaction. */
  characters: number;
  value: () => unknown;
}

export function redactedJson(json: string, redact: (value: unknown) => unknown): RedactedJson {
  let redacted: { value: unknown } | undefined;
  return {
    characters: json.length,
    value: () => {
      redacted ??= { value: redact(JSON.parse(json)) };
      return redacted.value;
    },
  };
}
