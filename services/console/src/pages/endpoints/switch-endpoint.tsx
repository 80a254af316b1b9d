import { useMutation } from "@connectrpc/connect-query";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import type { EndpointDialogProps } from "./endpoint-dialogs.tsx";
import { nameOf } from "./endpoint-status.tsx";

export function DeactivateEndpoint({ of, onClose, onChanged }: EndpointDialogProps) {
  const workspace = useWorkspace();
  const update = useMutation(EndpointService.method.updateEndpoint);
  return (
    <Confirm
      title={`Deactivate ${nameOf(of)}?`}
      action={ENDPOINTS.deactivate}
      onClose={onClose}
      onConfirm={async () => {
        await update.mutateAsync({ workspace, endpointId: of.id, active: false });
        toast(`${nameOf(of)} is deactivated`);
        onChanged();
      }}
    >
      <p>{ENDPOINTS.deactivateText}</p>
    </Confirm>
  );
}

/** [WMGMT-11] [OUT-50] */
export function ActivateEndpoint({ of, onClose, onChanged }: EndpointDialogProps) {
  const workspace = useWorkspace();
  const update = useMutation(EndpointService.method.updateEndpoint);
  return (
    <Confirm
      title={`Re-activate ${nameOf(of)}?`}
      action={ENDPOINTS.activate}
      kind="primary"
      onClose={onClose}
      onConfirm={async () => {
        await update.mutateAsync({ workspace, endpointId: of.id, active: true });
        toast(`${nameOf(of)} is active again`);
        onChanged();
      }}
    >
      <p>{ENDPOINTS.activateText}</p>
    </Confirm>
  );
}
