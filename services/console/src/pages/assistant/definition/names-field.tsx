import { ASSISTANT_EDITOR } from "../../../text/en/assistants/assistants.ts";
import { Button } from "../../../ui/button.tsx";
import { FieldGroup } from "../../../ui/form/field-group.tsx";
import { Select } from "../../../ui/form/input.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Status } from "../../../ui/status.tsx";
import styles from "./names.module.css";

interface NamesFieldProps {
  label: string;
  hint: string;
  names: readonly string[];
  /** What may be added, once it has been read. */
  options: readonly string[] | undefined;
  max: number;
  /** Their order counts. */
  isOrdered?: boolean;
  onNames: (names: readonly string[]) => void;
  readOnly: boolean;
}

/** A list of names that is chosen from those that exist. */
export function NamesField({ label, hint, names, options, max, isOrdered, onNames, readOnly }: NamesFieldProps) {
  const others = options?.filter((name) => !names.includes(name)) ?? [];
  const moveUp = (index: number) => {
    const next = [...names];
    next.splice(index - 1, 0, ...next.splice(index, 1));
    onNames(next);
  };
  return (
    <FieldGroup name={label} label={label} hint={hint}>
      {names.length > 0 && (
        <ol className={styles.names}>
          {names.map((name, index) => (
            <li key={name}>
              <code>{name}</code>
              {options && !options.includes(name) && <Status tone="bad">{ASSISTANT_EDITOR.isGone}</Status>}
              {!readOnly && isOrdered && index > 0 && (
                <Button kind="quiet" onClick={() => moveUp(index)}>
                  {ASSISTANT_EDITOR.earlier}
                </Button>
              )}
              {!readOnly && (
                <Button
                  kind="quiet"
                  aria-label={ASSISTANT_EDITOR.remove(name)}
                  onClick={() => onNames(names.filter((other) => other !== name))}
                >
                  <Icon name="close" />
                </Button>
              )}
            </li>
          ))}
        </ol>
      )}
      {!readOnly && others.length > 0 && names.length < max && (
        <Select
          aria-label={ASSISTANT_EDITOR.add(label)}
          options={[["", ASSISTANT_EDITOR.add(label)], ...others.map((name) => [name, name] as const)]}
          value=""
          onValue={(name) => name !== "" && onNames([...names, name])}
        />
      )}
    </FieldGroup>
  );
}
