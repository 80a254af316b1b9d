import { type ReactNode, useRef, useState } from "react";
import { type Failure, failureOf } from "../../rpc/errors.ts";
import { Button } from "../button.tsx";
import { FailureText } from "../page/failure.tsx";
import { Dialog, DialogButtons } from "./dialog.tsx";

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** The verb of what happens: "Revoke key". */
  action: string;
  cancel?: string;
  kind?: "danger" | "primary";
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. The focus is on Cancel. It stays until the answer has come. */
export function Confirm({
  title,
  children,
  action,
  cancel = "Cancel",
  kind = "danger",
  onConfirm,
  onClose,
}: ConfirmProps) {
  const cancelButton = useRef<HTMLButtonElement>(null);
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const confirm = async () => {
    setPending(true);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setPending(false);
    }
  };
  return (
    <Dialog title={title} onClose={() => pending || onClose()} description={children} initialFocus={cancelButton}>
      {failure && <FailureText failure={failure} />}
      <DialogButtons>
        <Button ref={cancelButton} pending={pending} onClick={onClose}>
          {cancel}
        </Button>
        <Button kind={kind} pending={pending} onClick={confirm}>
          {action}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
