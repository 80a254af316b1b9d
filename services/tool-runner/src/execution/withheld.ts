import type { RunScope } from "./run-scope.ts";

/** Something that a dry run recorded instead of doing it. */
export interface RecordedWrite {
  tool: string;
  /** The host function, or api for a declarative call. */
  name: string;
  /** As it would have been written; not redacted. */
  detail: unknown;
}

const MAX_RECORDED_WRITES = 200;

/** Whether a write is not to be made: in test mode, and in a dry run, which records it. */
export function withheld(scope: Pick<RunScope, "dryRun" | "testMode">, write: RecordedWrite): boolean {
  if (scope.dryRun && scope.dryRun.length < MAX_RECORDED_WRITES) scope.dryRun.push(write);
  return scope.dryRun !== undefined || scope.testMode;
}
