import { useEffect, useId, useRef, useState } from "react";
import { Input } from "../../ui/form/input.tsx";
import styles from "./deliveries.module.css";
import { useEventTypes } from "./use-endpoints.ts";

interface TypeFieldProps {
  label: string;
  value: string | undefined;
  /** Called when the user has chosen a name, or has left the field. */
  onValue: (type: string | undefined) => void;
}

/** One event type, which the catalogue completes. */
export function TypeField({ label, value, onValue }: TypeFieldProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [isWanted, setWanted] = useState(false);
  const types = useEventTypes(isWanted);
  useEffect(() => {
    if (field.current) field.current.value = value ?? "";
  }, [value]);
  const choose = (text: string) => {
    const type = text.trim() || undefined;
    if (type !== value) onValue(type);
  };
  return (
    <span className={styles.type}>
      <Input
        ref={field}
        list={id}
        aria-label={label}
        placeholder={label}
        defaultValue={value}
        onInput={({ currentTarget, nativeEvent }) => isChoice(nativeEvent) && choose(currentTarget.value)}
        onFocus={() => setWanted(true)}
        onBlur={({ target }) => choose(target.value)}
        onKeyDown={({ key, currentTarget }) => key === "Enter" && choose(currentTarget.value)}
      />
      <datalist id={id}>
        {types.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
    </span>
  );
}

/** Whether the user has chosen from the list, and not typed. */
function isChoice(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
}
