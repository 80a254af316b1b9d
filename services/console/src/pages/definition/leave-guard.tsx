import { useBlocker } from "@tanstack/react-router";
import { EDITOR } from "../../text/en/tools/tool-editor.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";

/** Asks before unsaved changes are left behind. */
export function LeaveGuard({ isChanged }: { isChanged: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: () => isChanged,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  const { proceed, reset } = blocker;
  return (
    <Confirm title={EDITOR.leaveTitle} action={EDITOR.leave} onConfirm={async () => proceed()} onClose={reset}>
      <p>{EDITOR.leaveText}</p>
    </Confirm>
  );
}
