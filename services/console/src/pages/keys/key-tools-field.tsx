import type { Key } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { useToolsWith } from "../../rpc/all-tools.ts";
import { failureOf } from "../../rpc/errors.ts";
import { KEYS } from "../../text/en/keys.ts";
import { FieldGroup } from "../../ui/form/field-group.tsx";
import { Checkbox } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import styles from "./keys.module.css";

interface KeyToolsFieldProps {
  of: Key | undefined;
  firstRef: ((element: HTMLElement | null) => void) | undefined;
}

/** The tools that the key has, at once, and the released ones that are not async, when they have come. */
export function KeyToolsField({ of, firstRef }: KeyToolsFieldProps) {
  const { data, error, refetch } = useToolsWith("external_api");
  const selected = of?.tools ?? [];
  const callable = data?.filter(({ definition }) => definition?.async !== true) ?? [];
  const names = [...new Set([...selected, ...callable.map(({ name }) => name)])].sort();
  return (
    <FieldGroup name="tools" label={KEYS.tools} hint={KEYS.toolsHint}>
      <div className={styles.tools} ref={firstRef} tabIndex={-1}>
        {data && names.length === 0 && <span className={styles.dim}>{KEYS.noTools}</span>}
        {names.map((tool) => {
          const isRed = of?.unavailableTools.includes(tool);
          const label = isRed ? <span className={styles.red}>{`${tool} (${KEYS.callsGet403})`}</span> : tool;
          return (
            <Checkbox key={tool} name="tools" value={tool} label={label} defaultChecked={selected.includes(tool)} />
          );
        })}
      </div>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
    </FieldGroup>
  );
}
