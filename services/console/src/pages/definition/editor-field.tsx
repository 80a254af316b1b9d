import type { ReactNode } from "react";
import styles from "./definition.module.css";

interface EditorFieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  /** Beside the label, such as the choice of a view. */
  action?: ReactNode;
  children: ReactNode;
}

/** The place of an editor in the form. The editor itself has the label for screen readers. */
export function EditorField({ label, hint, error, action, children }: EditorFieldProps) {
  return (
    <div className={styles.field}>
      <div className={styles.label}>
        <span>{label}</span>
        {action}
      </div>
      {children}
      {error && (
        <span role="alert" className={styles.bad}>
          {error}
        </span>
      )}
      {hint && <span className={styles.dim}>{hint}</span>}
    </div>
  );
}
