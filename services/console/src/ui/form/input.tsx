import type { ComponentProps } from "react";
import styles from "./input.module.css";

export function Input({ className = "", ...props }: ComponentProps<"input">) {
  return <input autoComplete="off" spellCheck={false} {...props} className={`${styles.input} ${className}`} />;
}

export function TextArea({ className = "", ...props }: ComponentProps<"textarea">) {
  return <textarea rows={4} spellCheck={false} {...props} className={`${styles.input} ${styles.area} ${className}`} />;
}

interface SelectProps extends Omit<ComponentProps<"select">, "onChange" | "children"> {
  options: readonly (readonly [value: string, label: string])[];
  onValue?: (value: string) => void;
}

/** The browser's own list of choices: it works with every keyboard, reader and phone. */
export function Select({ options, onValue, className = "", ...props }: SelectProps) {
  return (
    <select
      {...props}
      className={`${styles.input} ${styles.select} ${className}`}
      onChange={(event) => onValue?.(event.target.value)}
    >
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

export function Checkbox({ label, ...props }: ComponentProps<"input"> & { label: React.ReactNode }) {
  return (
    <label className={styles.check}>
      <input type="checkbox" {...props} />
      <span>{label}</span>
    </label>
  );
}
