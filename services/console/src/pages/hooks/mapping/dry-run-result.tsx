import { MAPPING } from "../../../text/en/webhooks/hooks.ts";
import { BodyView } from "../../../ui/code/body-view.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./mapping.module.css";
import type { Row } from "./pointers.ts";
import type { DryRun } from "./use-dry-run.ts";

interface DryRunResultProps {
  of: DryRun;
  /** The arguments that have a row, where what is wrong with them is shown. */
  rows: readonly Row[];
  hasBody: boolean;
}

export function DryRunResult({ of, rows, hasBody }: DryRunResultProps) {
  const { argsJson, violations, failure } = of;
  const elsewhere = violations.filter(({ field }) => !rows.some(({ argument }) => argument === field.split(".")[0]));
  if (!hasBody) return <p className={styles.dim}>{MAPPING.noBody}</p>;
  return (
    <div aria-live="polite" className={styles.side}>
      {failure && <FailureText failure={failure} />}
      {violations.length > 0 && (
        <>
          <Status tone="bad">{MAPPING.violated}</Status>
          <ul className={styles.violations}>
            {elsewhere.map(({ field, rule, message }) => (
              <li key={`${field} ${rule} ${message}`}>
                <code>{field === "" ? MAPPING.wholeBody : field}</code> {message}
              </li>
            ))}
          </ul>
        </>
      )}
      {argsJson !== "" && (
        <>
          <Status tone="good">{MAPPING.result}</Status>
          <BodyView label={MAPPING.result} body={argsJson} formatted />
        </>
      )}
    </div>
  );
}
