import { MAPPING } from "../../text/en/hooks.ts";
import { FailureText } from "../../ui/failure.tsx";
import { Status } from "../../ui/status.tsx";
import { BodyPreview } from "../hook-log/body-preview.tsx";
import styles from "./hooks.module.css";
import type { DryRun } from "./use-dry-run.ts";

interface DryRunResultProps {
  of: DryRun;
  hasBody: boolean;
}

export function DryRunResult({ of, hasBody }: DryRunResultProps) {
  const { argsJson, violations, failure } = of;
  if (!hasBody) return <p className={styles.dim}>{MAPPING.noBody}</p>;
  return (
    <div aria-live="polite" className={styles.side}>
      {failure && <FailureText failure={failure} />}
      {violations.length > 0 && (
        <>
          <Status tone="bad">{MAPPING.violated}</Status>
          <ul className={styles.violations}>
            {violations.map(({ field, rule, message }) => (
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
          <BodyPreview label={MAPPING.result} text={argsJson} />
        </>
      )}
    </div>
  );
}
