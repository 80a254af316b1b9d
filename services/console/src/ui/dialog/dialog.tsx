import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useRef } from "react";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";
import { type CloseGuard, CloseGuardContext } from "./close-guard.ts";
import styles from "./dialog.module.css";

interface DialogProps {
  title: string;
  description?: ReactNode;
  children?: ReactNode;
  /** Called when the user wants to close it: the owner decides. */
  onClose: () => void;
  size?: "small" | "large";
  /** Where the focus goes first; the first control when not set. */
  initialFocus?: React.RefObject<HTMLElement | null>;
}

/** A modal dialog that is open while it is rendered. Focus returns to what opened it. */
export function Dialog({ title, description, children, onClose, size = "small", initialFocus }: DialogProps) {
  const guard = useRef<CloseGuard>(undefined);
  const mayClose = (reason: string) => guard.current?.(reason) ?? true;
  return (
    <Base.Root open onOpenChange={(open, { reason }) => !open && mayClose(reason) && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={`${styles.popup} ${styles[size]}`} initialFocus={initialFocus}>
          <Base.Title className={styles.title}>{title}</Base.Title>
          {description !== undefined && (
            <Base.Description render={<div />} className={styles.description}>
              {description}
            </Base.Description>
          )}
          <CloseGuardContext value={guard}>{children}</CloseGuardContext>
          {/* The last in order, so that the focus begins with what the dialog is for. */}
          <Base.Close render={<Button kind="quiet" aria-label="Close" className={styles.close} />}>
            <Icon name="close" />
          </Base.Close>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog. */
export function DialogButtons({ children }: { children: ReactNode }) {
  return <footer className={styles.buttons}>{children}</footer>;
}
