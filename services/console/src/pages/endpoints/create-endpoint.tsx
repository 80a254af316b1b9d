import { useMutation } from "@connectrpc/connect-query";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { SecretOnce } from "../../ui/dialog/secret-once.tsx";
import { Form } from "../../ui/form/form.tsx";
import { EndpointFields, EndpointValues, readEndpoint } from "./endpoint-form.tsx";

interface CreateEndpointProps {
  /** The type of event that it is for. */
  chosen?: string | undefined;
  onClose: () => void;
  onCreated: (endpointId: string) => void;
}

/** [WMGMT-5] [OUT-7] The secret is in this component alone, until the dialog closes. */
export function CreateEndpoint({ chosen, onClose, onCreated }: CreateEndpointProps) {
  const workspace = useWorkspace();
  const create = useMutation(EndpointService.method.createEndpoint, { gcTime: 0 });
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <EndpointSecret title={ENDPOINTS.created} secret={secret} onClose={onClose} />;
  return (
    <Dialog title={ENDPOINTS.create} size="large" onClose={onClose}>
      <Form
        schema={EndpointValues}
        read={readEndpoint}
        submit={ENDPOINTS.create}
        onCancel={onClose}
        onSubmit={async ({ headers, removes_headers: _, ...values }) => {
          const created = await create.mutateAsync({ workspace, ...values, headers: { values: headers } });
          create.reset();
          setSecret(created.secret);
          onCreated(String(created.endpoint?.id ?? ""));
        }}
      >
        <EndpointFields chosen={chosen} />
      </Form>
    </Dialog>
  );
}

/** An endpoint's secret, as a new and as a rotated endpoint shows it. */
export function EndpointSecret({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
  return (
    <SecretOnce
      title={title}
      text={ENDPOINTS.secretText}
      secret={secret}
      variable="WEBHOOK_SECRET"
      fileName="toolgate-webhook-secret.txt"
      onClose={onClose}
    />
  );
}
