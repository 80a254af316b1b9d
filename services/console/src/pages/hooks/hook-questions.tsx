import { useMutation } from "@connectrpc/connect-query";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { Time } from "../../ui/time.tsx";
import type { HookDialogProps } from "./hook-dialogs.tsx";

export function DeactivateHook({ of, onClose, onChanged }: HookDialogProps) {
  const workspace = useWorkspace();
  const update = useMutation(HookService.method.updateHook);
  return (
    <Confirm
      title={`${HOOKS.deactivate} ${of.name}?`}
      action={HOOKS.deactivate}
      onClose={onClose}
      onConfirm={async () => {
        await update.mutateAsync({ workspace, hookId: of.id, active: false });
        toast(`${of.name} is off`);
        onChanged();
      }}
    >
      <p>{HOOKS.deactivateText}</p>
    </Confirm>
  );
}

interface DeleteHookProps extends HookDialogProps {
  onDeleted: () => void;
}

export function DeleteHook({ of, onClose, onDeleted }: DeleteHookProps) {
  const workspace = useWorkspace();
  const remove = useMutation(HookService.method.deleteHook);
  return (
    <Confirm
      title={`${HOOKS.delete} ${of.name}?`}
      action={HOOKS.delete}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ workspace, hookId: of.id });
        toast(`${of.name} is deleted`);
        onDeleted();
      }}
    >
      <p>
        {HOOKS.deleteText} The last accepted call: <Time at={of.lastReceivedAt} />.
      </p>
    </Confirm>
  );
}
