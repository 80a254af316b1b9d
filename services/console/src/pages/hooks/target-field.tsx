import { Link } from "@tanstack/react-router";
import { failureOf } from "../../rpc/errors.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { Field } from "../../ui/form/form.tsx";
import { Select } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import styles from "./hooks.module.css";
import { type Target, useTargets } from "./use-targets.ts";

interface TargetFieldProps {
  chosen: Target | undefined;
  onChosen: (target: Target | undefined) => void;
}

const keyOf = ({ kind, name }: Target) => `${kind} ${name}`;

/** [IN-6] [IN-48..51] [IN-55] Offers what is released for hooks, and says why the rest is not. */
export function TargetField({ chosen, onChosen }: TargetFieldProps) {
  const { data, error, refetch } = useTargets();
  if (error) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  const offered = data?.filter(({ refusal }) => refusal === "") ?? [];
  const others = data?.filter(({ refusal }) => refusal !== "") ?? [];
  const options = [["", "Choose…"] as const, ...offered.map((target) => [keyOf(target), keyOf(target)] as const)];
  return (
    <div className={styles.target}>
      <Field name="target" label={HOOKS.target} hint={data && offered.length === 0 ? HOOKS.noTarget : HOOKS.targetHint}>
        {(control) => (
          <Select
            {...control}
            options={options}
            value={chosen ? keyOf(chosen) : ""}
            onValue={(value) => onChosen(offered.find((target) => keyOf(target) === value))}
          />
        )}
      </Field>
      {others.length > 0 && (
        <details>
          <summary>{HOOKS.notOffered}</summary>
          <ul className={styles.others}>
            {others.map((target) => (
              <li key={keyOf(target)}>
                {target.kind === "tool" ? (
                  <Link to="/tools/$name" params={{ name: target.name }}>
                    {target.name}
                  </Link>
                ) : (
                  keyOf(target)
                )}
                : {target.refusal}.
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
