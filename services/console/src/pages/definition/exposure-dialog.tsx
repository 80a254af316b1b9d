import type { ReactNode } from "react";
import { EXPOSURE } from "../../text/en/tools/tool-editor.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import styles from "./exposure.module.css";

export interface ExposureQuestion {
  /** The guarded flags that are newly set. */
  flags: readonly string[];
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

interface ExposureDialogProps extends ExposureQuestion {
  name: string;
  labelOf: (flag: string) => string | undefined;
  /** Who may then call it, and what it may do. */
  children: ReactNode;
}

/** [EXPO-2] Asks before a guarded flag is set, in words that say who may then call it. */
export function ExposureDialog({ name, flags, labelOf, onConfirm, onClose, children }: ExposureDialogProps) {
  return (
    <Confirm title={EXPOSURE.title(name)} action={EXPOSURE.action} onConfirm={onConfirm} onClose={onClose}>
      <div className={styles.body}>
        <div>
          <p>{EXPOSURE.newlySet}</p>
          <ul className={styles.list}>
            {flags.map((flag) => (
              <li key={flag}>
                <strong>{labelOf(flag)}</strong> (<code>{flag}</code>)
              </li>
            ))}
          </ul>
        </div>
        {children}
      </div>
    </Confirm>
  );
}
