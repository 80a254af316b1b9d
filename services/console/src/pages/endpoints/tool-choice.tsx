import { useToolsWith } from "../../rpc/all-tools.ts";
import { failureOf } from "../../rpc/errors.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { FieldGroup } from "../../ui/form/field-group.tsx";
import { Checkbox } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import styles from "./endpoints.module.css";

/** The tools whose completions an endpoint gets: those that report any, and those that it names already. */
export function ToolChoice({ selected }: { selected: readonly string[] }) {
  const { data, error, refetch } = useToolsWith("webhook_event");
  const names = [...new Set([...selected, ...(data ?? []).map(({ name }) => name)])].sort();
  return (
    <div className={styles.tools}>
      <FieldGroup name="tools" label={ENDPOINTS.tools} hint={ENDPOINTS.toolsHint}>
        {data && names.length === 0 && <p className={styles.dim}>{ENDPOINTS.noTools}</p>}
        {names.map((name) => (
          <Checkbox key={name} name="tools" value={name} label={name} defaultChecked={selected.includes(name)} />
        ))}
        {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      </FieldGroup>
    </div>
  );
}
