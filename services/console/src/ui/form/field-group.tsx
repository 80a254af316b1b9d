import { type ReactNode, use, useId } from "react";
import styles from "./form.module.css";
import { ErrorsContext } from "./form.tsx";

interface FieldGroupProps {
  /** Of the controls in it, as the server names the field. */
  name: string;
  label: string;
  hint?: ReactNode;
  children: ReactNode;
}

/** Several controls that make up one field of a form, such as checkboxes, with its label, hint and error. */
export function FieldGroup({ name, label, hint, children }: FieldGroupProps) {
  const id = useId();
  const error = use(ErrorsContext)[name];
  const described = [hint !== undefined && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <fieldset aria-describedby={described || undefined}>
      <legend className={styles.legend}>{label}</legend>
      <div className={styles.group}>
        {hint !== undefined && (
          <span id={`${id}-hint`} className={styles.hint}>
            {hint}
          </span>
        )}
        {error && (
          <span id={`${id}-error`} role="alert" className={styles.error}>
            {error}
          </span>
        )}
        {children}
      </div>
    </fieldset>
  );
}
