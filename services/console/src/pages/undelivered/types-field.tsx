import { useId, useRef, useState } from "react";
import { UNDELIVERED } from "../../text/en/webhooks/undelivered.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Icon } from "../../ui/icon.tsx";
import { useEventTypes } from "../deliveries/use-endpoints.ts";
import styles from "./undelivered.module.css";

interface TypesFieldProps {
  value: readonly string[];
  onValue: (types: readonly string[]) => void;
}

/** Several event types; each one that is chosen becomes a button that removes it. */
export function TypesField({ value, onValue }: TypesFieldProps) {
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const [isWanted, setWanted] = useState(false);
  const types = useEventTypes(isWanted);
  const add = (text: string) => {
    const type = text.trim();
    if (field.current) field.current.value = "";
    if (type !== "" && !value.includes(type)) onValue([...value, type]);
  };
  return (
    <span className={styles.types}>
      {value.map((type) => (
        <Button
          key={type}
          aria-label={`Remove ${type}`}
          onClick={() => {
            onValue(value.filter((other) => other !== type));
            field.current?.focus();
          }}
        >
          {type}
          <Icon name="close" />
        </Button>
      ))}
      <Input
        ref={field}
        list={list}
        aria-label={UNDELIVERED.addType}
        placeholder={UNDELIVERED.addType}
        onFocus={() => setWanted(true)}
        onBlur={({ target }) => add(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.currentTarget.value === "") return;
          event.preventDefault();
          add(event.currentTarget.value);
        }}
      />
      <datalist id={list}>
        {types
          .filter((type) => !value.includes(type) && !type.includes("<"))
          .map((type) => (
            <option key={type} value={type} />
          ))}
      </datalist>
    </span>
  );
}
