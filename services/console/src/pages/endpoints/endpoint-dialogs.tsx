import { useMutation } from "@connectrpc/connect-query";
import { type Endpoint, EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { useRef, useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { changedFields } from "../../ui/form/changed-fields.ts";
import { Form } from "../../ui/form/form.tsx";
import { EndpointSecret } from "./create-endpoint.tsx";
import { EndpointFields, EndpointValues, readEndpoint } from "./endpoint-form.tsx";
import { nameOf } from "./endpoint-status.tsx";

export interface EndpointDialogProps {
  of: Endpoint;
  onClose: () => void;
  onChanged: () => void;
}

type EndpointTexts = Pick<Endpoint, "url" | "description" | "events" | "tools">;

/** An edit of the endpoint as it was when the dialog opened, whatever is loaded meanwhile. */
export function EditEndpoint({ of, onClose, onChanged }: EndpointDialogProps) {
  const workspace = useWorkspace();
  const [opened] = useState(of);
  const update = useMutation(EndpointService.method.updateEndpoint);
  return (
    <Dialog title={`Edit ${nameOf(opened)}`} size="large" onClose={onClose}>
      <Form
        schema={EndpointValues}
        read={readEndpoint}
        submit={ENDPOINTS.save}
        onCancel={onClose}
        onSubmit={async ({ url, description, events, tools, headers, removes_headers }, overwrite) => {
          const changed = changedFields<EndpointTexts>(opened, { url, description, events, tools });
          const replacesHeaders = removes_headers || Object.keys(headers).length > 0;
          await update.mutateAsync({
            workspace,
            endpointId: opened.id,
            url: changed.url,
            description: changed.description,
            ...(changed.events && { events: { types: events } }),
            ...(changed.tools && { tools: { names: tools } }),
            ...(replacesHeaders && { headers: { values: headers } }),
            ...(!overwrite && { expectedVersion: opened.version }),
          });
          toast("The endpoint is saved");
          onChanged();
          onClose();
        }}
      >
        <EndpointFields of={opened} />
      </Form>
    </Dialog>
  );
}

/** [WMGMT-7] [OUT-8] [OUT-9] */
export function RotateSecret({ of, onClose, onChanged }: EndpointDialogProps) {
  const workspace = useWorkspace();
  const rotate = useMutation(EndpointService.method.rotateSecret, { gcTime: 0 });
  const [secret, setSecret] = useState<string>();
  const isRotated = useRef(false);
  if (secret !== undefined) return <EndpointSecret title={ENDPOINTS.rotated} secret={secret} onClose={onClose} />;
  return (
    <Confirm
      title={`Rotate the secret of ${nameOf(of)}?`}
      action={ENDPOINTS.rotate}
      // Once it is confirmed, the secret takes the place of the question.
      onClose={() => isRotated.current || onClose()}
      onConfirm={async () => {
        const rotated = await rotate.mutateAsync({ workspace, endpointId: of.id });
        rotate.reset();
        isRotated.current = true;
        setSecret(rotated.secret);
        onChanged();
      }}
    >
      <p>{ENDPOINTS.rotateText}</p>
    </Confirm>
  );
}

export function DeleteEndpoint({ of, onClose, onChanged }: EndpointDialogProps) {
  const workspace = useWorkspace();
  const remove = useMutation(EndpointService.method.deleteEndpoint);
  return (
    <Confirm
      title={`Delete ${nameOf(of)}?`}
      action={ENDPOINTS.delete}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ workspace, endpointId: of.id });
        toast(`${nameOf(of)} is deleted`);
        onChanged();
      }}
    >
      <p>{ENDPOINTS.deleteText}</p>
    </Confirm>
  );
}
