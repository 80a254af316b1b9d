import { useRef, useState } from "react";
import { useCloseGuard } from "../dialog/close-guard.ts";
import { Confirm } from "../dialog/confirm.tsx";

/**
 * Keeps the dialog around a form open while its call is under way and when the user clicks beside it, and asks before it
 * closes with something entered. `onCancel` closes it; without it there is nothing to ask.
 */
export function useDiscard(pending: boolean, onCancel: (() => void) | undefined) {
  const isFilled = useRef(false);
  const [isAsking, setIsAsking] = useState(false);
  useCloseGuard((reason) => {
    if (pending || reason === "outside-press") return false;
    if (!onCancel || !isFilled.current) return true;
    setIsAsking(true);
    return false;
  });
  return {
    onChange: () => {
      isFilled.current = true;
    },
    question: isAsking && onCancel && (
      <Confirm
        title="Discard what you entered?"
        action="Discard"
        cancel="Keep editing"
        onConfirm={async () => onCancel()}
        onClose={() => setIsAsking(false)}
      >
        <p>It is not saved.</p>
      </Confirm>
    ),
  };
}
