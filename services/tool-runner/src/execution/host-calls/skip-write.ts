import type { HostCallEntry } from "../../domain/host-functions.ts";
import type { RunScope } from "../run.ts";

interface Writer {
  tool: string;
  scope: Pick<RunScope, "dryRun" | "testMode" | "suppressed">;
  /** Missing for a declarative tool, which makes no host call. */
  entry?: HostCallEntry;
}

/** True if a write must not be made: in test mode, and in a dry run, which records it. */
export function skipsWrite({ tool, scope, entry }: Writer, name: string, detail: unknown): boolean {
  if (!scope.dryRun) {
    if (scope.testMode) scope.suppressed.add(tool);
    return scope.testMode;
  }
  scope.dryRun.add(tool, name, detail);
  if (entry) entry.recorded = true;
  return true;
}

/** What a tool gets instead of the result of a write that was skipped. */
export function skipNote(scope: Pick<RunScope, "dryRun">): { dry_run: true } | { test_mode: true } {
  return scope.dryRun ? { dry_run: true } : { test_mode: true };
}
