import { useMutation } from "@connectrpc/connect-query";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { KEYS } from "../../text/en/keys.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { SecretOnce } from "../../ui/dialog/secret-once.tsx";
import { Form } from "../../ui/form/form.tsx";
import { expiryOf, KeyFields, KeyValues, readKey } from "./key-form.tsx";

interface CreateKeyProps {
  onClose: () => void;
  onCreated: (keyId: string) => void;
}

/** [MGMT-6] [MGMT-7] [MGMT-8] The secret is in this component alone, until the dialog closes. */
export function CreateKey({ onClose, onCreated }: CreateKeyProps) {
  const workspace = useWorkspace();
  const create = useMutation(KeyService.method.createKey, { gcTime: 0 });
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <KeySecret title={KEYS.created} secret={secret} onClose={onClose} />;
  return (
    <Dialog title={KEYS.create} onClose={onClose}>
      <Form
        schema={KeyValues}
        read={readKey}
        submit={KEYS.create}
        onCancel={onClose}
        onSubmit={async ({ allowed_networks, expiry, ...values }) => {
          const created = await create.mutateAsync({
            workspace,
            ...values,
            allowedNetworks: allowed_networks,
            expiry: expiryOf(expiry),
          });
          create.reset();
          setSecret(created.secret);
          onCreated(created.key?.id ?? "");
        }}
      >
        <KeyFields />
      </Form>
    </Dialog>
  );
}

/** A key's secret, as a created and as a rotated key shows it. */
export function KeySecret({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
  return (
    <SecretOnce
      title={title}
      text={KEYS.secretText}
      secret={secret}
      variable="SERVICE_API_KEY"
      fileName="toolgate-api-key.txt"
      onClose={onClose}
    />
  );
}
