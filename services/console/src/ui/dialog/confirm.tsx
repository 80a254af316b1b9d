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
  kind?: "danger" | "primary";
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. The focus is on Cancel. */
export function Confirm({ title, children, action, kind = "danger", onConfirm, onClose }: ConfirmProps) {
  const cancel = useRef<HTMLButtonElement>(null);
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
    <Dialog title={title} onClose={onClose} description={children} initialFocus={cancel}>
      {failure && <FailureText failure={failure} />}
      <DialogButtons>
        <Button ref={cancel} onClick={onClose}>
          Cancel
        </Button>
        <Button kind={kind} pending={pending} onClick={confirm}>
          {action}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
