import type { Execution } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { ENTRY_WORDS, milliseconds, RUNS } from "../../text/en/tools/runs.ts";
import type { Column } from "../../ui/list/resource-list.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./runs.module.css";

/** The names of keys by id, as far as they are known. */
export type KeyNames = ReadonlyMap<string, string>;

/** Who started a run, in words. */
export function callerOf({ entryType, callerId }: Pick<Execution, "entryType" | "callerId">, keys: KeyNames): string {
  const kind = ENTRY_WORDS[entryType] ?? entryType;
  if (entryType === "api_key") return keys.get(callerId) ?? `${kind} ${callerId.slice(0, 8)}`;
  if (entryType === "hook") return `${kind} ${callerId}`;
  return kind;
}

export function RunOutcome({ success }: Pick<Execution, "success">) {
  return success ? <Status tone="good">{RUNS.succeeded}</Status> : <Status tone="bad">{RUNS.failed}</Status>;
}

export function runColumns(keys: KeyNames): readonly Column<Execution>[] {
  return [
    { header: "Outcome", width: "110px", render: (run) => <RunOutcome {...run} /> },
    {
      header: "Caller",
      width: "minmax(120px, 1.5fr)",
      render: (run) => (
        <>
          {callerOf(run, keys)}
          {run.parentId !== "" && <span className={styles.dim}> · {RUNS.nested}</span>}
        </>
      ),
    },
    { header: "Started", width: "110px", render: ({ startedAt }) => <Time at={startedAt} /> },
    { header: "Duration", width: "90px", align: "end", render: ({ durationMs }) => milliseconds(durationMs) },
    {
      header: "Access",
      width: "90px",
      render: ({ readOnly }) => <span className={styles.dim}>{readOnly ? RUNS.readOnly : RUNS.mayWrite}</span>,
    },
  ];
}
