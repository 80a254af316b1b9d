import type { DryRunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { DRY_RUN } from "../../../text/en/tools/tool-editor.ts";
import { indentJson } from "../../../ui/code/indent-json.ts";
import { ScrollText } from "../../../ui/code/scroll-text.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./tool-definition.module.css";

/** What a dry run gave, logged, and would have written. */
export function DryRunOutcome({ of: { outcome, durationMs, logs, writes } }: { of: DryRunResponse }) {
  if (outcome.case === "invalidArguments") {
    return (
      <>
        <Status tone="bad">{DRY_RUN.refused}</Status>
        <ul className={styles.problems}>
          {outcome.value.violations.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      </>
    );
  }
  const isResult = outcome.case === "resultJson";
  return (
    <>
      <div className={styles.took}>
        {isResult ? <Status tone="good">{DRY_RUN.result}</Status> : <Status tone="bad">{DRY_RUN.failed}</Status>}
        <span className={styles.dim}>{DRY_RUN.took(durationMs)}</span>
      </div>
      <ScrollText label={DRY_RUN.result} className={styles.text}>
        {isResult ? indentJson(outcome.value) : String(outcome.value)}
      </ScrollText>
      <h3>{DRY_RUN.logs}</h3>
      {logs.length === 0 ? (
        <p className={styles.dim}>{DRY_RUN.noLogs}</p>
      ) : (
        <ScrollText label={DRY_RUN.logs} className={styles.text}>
          {logs.join("\n")}
        </ScrollText>
      )}
      <h3>{DRY_RUN.writes}</h3>
      {writes.length === 0 && <p className={styles.dim}>{DRY_RUN.noWrites}</p>}
      <ol className={styles.writes}>
        {writes.map(({ tool, name, detailJson }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the writes of one run, in their order
          <li key={index}>
            <code>{name}</code> <span className={styles.dim}>by {tool}</span>
            <ScrollText label={name} className={styles.text}>
              {indentJson(detailJson)}
            </ScrollText>
          </li>
        ))}
      </ol>
    </>
  );
}
