import { useId } from "react";
import { MAPPING } from "../../../text/en/webhooks/hooks.ts";
import { Button } from "../../../ui/button.tsx";
import { Input, Select } from "../../../ui/form/input.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { Parameter } from "../use-targets.ts";
import styles from "./mapping.module.css";
import { EMPTY_ROW, type Row } from "./pointers.ts";

interface PointerRowsProps {
  rows: readonly Row[];
  onRows: (rows: readonly Row[]) => void;
  parameters: readonly Parameter[] | undefined;
  /** Places that a known body has. */
  suggestions?: readonly string[];
  /** What a dry run found wrong, by argument. */
  violations?: ReadonlyMap<string, string>;
}

/** Arguments, each with the JSON Pointer of its place in the body. */
export function PointerRows({ rows, onRows, parameters, suggestions = [], violations }: PointerRowsProps) {
  const id = useId();
  const set = (index: number, change: Partial<Row>) =>
    onRows(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  return (
    <div className={styles.rows}>
      <datalist id={`${id}-places`}>
        {suggestions.map((pointer) => (
          <option key={pointer} value={pointer} />
        ))}
      </datalist>
      {rows.map(({ argument, pointer }, index) => {
        const violation = violations?.get(argument);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name while its argument is typed
          <div key={index} className={styles.pointer} role="group" aria-label={argument || MAPPING.argument}>
            <ArgumentField
              value={argument}
              onValue={(value) => set(index, { argument: value })}
              parameters={parameters}
            />
            <Input
              aria-label={MAPPING.pointer}
              aria-invalid={violation ? true : undefined}
              aria-describedby={violation && `${id}-${index}`}
              data-mono
              list={`${id}-places`}
              placeholder="/order/id"
              value={pointer}
              onChange={(event) => set(index, { pointer: event.target.value })}
            />
            <Button
              kind="quiet"
              aria-label={`${MAPPING.remove} ${argument}`}
              onClick={() => onRows(rows.filter((_, at) => at !== index))}
            >
              <Icon name="close" />
            </Button>
            {violation && (
              <span id={`${id}-${index}`} className={styles.violation}>
                {violation}
              </span>
            )}
          </div>
        );
      })}
      <div>
        <Button onClick={() => onRows([...rows, EMPTY_ROW])}>{MAPPING.add}</Button>
      </div>
    </div>
  );
}

interface ArgumentFieldProps {
  value: string;
  onValue: (value: string) => void;
  parameters: readonly Parameter[] | undefined;
}

/** One of what a tool declares; any name for an assistant. */
function ArgumentField({ value, onValue, parameters }: ArgumentFieldProps) {
  if (!parameters) {
    return (
      <Input
        aria-label={MAPPING.argument}
        placeholder={MAPPING.argument}
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
    );
  }
  const names = [...new Set([value, ...parameters.map(({ name }) => name)])];
  const required = new Set(parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name));
  const options = names.map((name) => [name, required.has(name) ? `${name} (required)` : name || "…"] as const);
  return <Select aria-label={MAPPING.argument} options={options} value={value} onValue={onValue} />;
}
