import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { type Key, KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { useRef, useState } from "react";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { KEYS, OVERLAPS, revokedText } from "../../text/en/keys.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { changedFields } from "../../ui/form/changed-fields.ts";
import { Field, Form } from "../../ui/form/form.tsx";
import { Select } from "../../ui/form/input.tsx";
import { localTime, Time } from "../../ui/time.tsx";
import { KeySecret } from "./create-key.tsx";
import { expiryOf, type KeyField, KeyFields, KeyValues, keyValuesOf, readKey } from "./key-form.tsx";

interface KeyDialogProps {
  of: Key;
  /** The field that the user wants to change. */
  field: KeyField | undefined;
  onClose: () => void;
  onChanged: () => void;
}

/** [MGMT-9] [MGMT-10] [MGMT-11] [MGMT-12] */
export function EditKey({ of, field, onClose, onChanged }: KeyDialogProps) {
  const first = useRef<HTMLElement | null>(null);
  const setFirst = (control: HTMLElement | null) => {
    first.current = control;
  };
  const workspace = useWorkspace();
  const update = useMutation(KeyService.method.updateKey);
  // The fields have the values of this version, whatever is read of the key meanwhile.
  const [opened] = useState(of);
  return (
    <Dialog title={`Edit ${opened.name}`} onClose={onClose} {...(field && { initialFocus: first })}>
      <Form
        schema={KeyValues}
        read={readKey}
        submit={KEYS.save}
        onCancel={onClose}
        onSubmit={async (values, overwrite) => {
          const { tools, expiry, allowed_networks, ...plain } = changedFields(keyValuesOf(opened), values);
          await update.mutateAsync({
            workspace,
            keyId: opened.id,
            ...plain,
            ...(tools && { tools: { names: tools } }),
            ...(expiry !== undefined && { expiry: expiryOf(expiry) }),
            ...(allowed_networks && { allowedNetworks: { networks: allowed_networks } }),
            expectedVersion: overwrite ? undefined : opened.version,
          });
          toast(`${values.name} is saved`);
          onChanged();
          onClose();
        }}
      >
        <KeyFields of={opened} first={field} firstRef={setFirst} />
      </Form>
    </Dialog>
  );
}

const RotateValues = v.object({ overlap_seconds: v.pipe(v.string(), v.transform(Number)) });

export function RotateKey({ of, onClose, onChanged }: KeyDialogProps) {
  const workspace = useWorkspace();
  const rotate = useMutation(KeyService.method.rotateKey, { gcTime: 0 });
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <KeySecret title={KEYS.rotated} secret={secret} onClose={onClose} />;
  return (
    <Dialog title={`Rotate ${of.name}`} description={KEYS.rotateText} onClose={onClose}>
      <Form
        schema={RotateValues}
        submit={KEYS.rotate}
        onCancel={onClose}
        onSubmit={async ({ overlap_seconds: overlapSeconds }) => {
          const rotated = await rotate.mutateAsync({ workspace, keyId: of.id, overlapSeconds });
          rotate.reset();
          setSecret(rotated.secret);
          onChanged();
        }}
      >
        <Field name="overlap_seconds" label={KEYS.overlap}>
          {(control) => <Select {...control} options={OVERLAPS} defaultValue="86400" />}
        </Field>
      </Form>
    </Dialog>
  );
}

/** [MGMT-13] Names the last call, so that nobody revokes a key that is in use without knowing it. */
export function RevokeKey({ of, onClose, onChanged }: KeyDialogProps) {
  const workspace = useWorkspace();
  const revoke = useMutation(KeyService.method.revokeKey);
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
      action={KEYS.revoke}
      onClose={onClose}
      onConfirm={async () => {
        const { lastAcceptedAt } = await revoke.mutateAsync({ workspace, keyId: of.id });
        toast(revokedText(of.name, lastAcceptedAt && localTime(timestampDate(lastAcceptedAt))));
        onChanged();
      }}
    >
      <p>{KEYS.revokeText}</p>
      <p>
        {KEYS.lastAccepted} <Time at={of.lastUsedAt} exact never={KEYS.neverUsed} />.
      </p>
    </Confirm>
  );
}
