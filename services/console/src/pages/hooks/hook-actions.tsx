import { useMutation } from "@connectrpc/connect-query";
import { type Hook, HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useState } from "react";
import { type Failure, failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { Button } from "../../ui/button.tsx";
import { FailureText } from "../../ui/page/failure.tsx";

export type DialogName = "edit" | "arguments" | "rotate" | "deactivate" | "delete";

interface HookActionsProps {
  of: Hook;
  onDialog: (dialog: DialogName) => void;
  onChanged: () => void;
}

/** Turning a hook on needs no question. */
export function HookActions({ of, onDialog, onChanged }: HookActionsProps) {
  const workspace = useWorkspace();
  const update = useMutation(HookService.method.updateHook);
  const [failure, setFailure] = useState<Failure>();
  const activate = async () => {
    setFailure(undefined);
    try {
      await update.mutateAsync({ workspace, hookId: of.id, active: true });
      onChanged();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <>
      <Button onClick={() => onDialog("edit")}>{HOOKS.edit}</Button>
      <Button onClick={() => onDialog("arguments")}>{HOOKS.arguments}</Button>
      <Button onClick={() => onDialog("rotate")}>{HOOKS.rotate}</Button>
      {of.active ? (
        <Button onClick={() => onDialog("deactivate")}>{HOOKS.deactivate}</Button>
      ) : (
        <Button pending={update.isPending} onClick={() => void activate()}>
          {HOOKS.activate}
        </Button>
      )}
      <Button kind="danger" onClick={() => onDialog("delete")}>
        {HOOKS.delete}
      </Button>
      {failure && <FailureText failure={failure} />}
    </>
  );
}
