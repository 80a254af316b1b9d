import { useMutation } from "@connectrpc/connect-query";
import { type Hook, HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useState } from "react";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { changedFields } from "../../ui/form/changed-fields.ts";
import { Form } from "../../ui/form/form.tsx";
import { HookValues, LimitFields, NameField, SecretField } from "./hook-form.tsx";
import { HookSecret } from "./hook-secret.tsx";
import { providerOf, randomSecret } from "./providers.ts";

export interface HookDialogProps {
  of: Hook;
  onClose: () => void;
  onChanged: () => void;
}

type HookLimits = Pick<Hook, "name" | "limit" | "toleranceSeconds">;

export function EditHook({ of, onClose, onChanged }: HookDialogProps) {
  const workspace = useWorkspace();
  const update = useMutation(HookService.method.updateHook);
  // The panel reads the hook again and again; the edit is based on what the form was filled with.
  const [opened] = useState(of);
  return (
    <Dialog title={`Edit ${opened.name}`} onClose={onClose}>
      <Form
        schema={HookValues}
        submit={HOOKS.save}
        onCancel={onClose}
        onSubmit={async ({ name, limit, tolerance_seconds: toleranceSeconds = opened.toleranceSeconds }, overwrite) => {
          await update.mutateAsync({
            workspace,
            hookId: opened.id,
            ...changedFields<HookLimits>(opened, { name, limit, toleranceSeconds }),
            expectedVersion: overwrite ? undefined : opened.version,
          });
          toast(`${name} is saved`);
          onChanged();
          onClose();
        }}
      >
        <NameField of={opened} />
        <LimitFields of={opened} isTimed={providerOf(opened).isTimed} />
      </Form>
    </Dialog>
  );
}

const NewSecret = v.object({ provider_secret: v.optional(v.string(), "") });

/** [WMGMT-7] */
export function RotateHook({ of, onClose, onChanged }: HookDialogProps) {
  const workspace = useWorkspace();
  const rotate = useMutation(HookService.method.rotateHookSecret, { gcTime: 0 });
  const [secret, setSecret] = useState<string>();
  const provider = providerOf(of);
  if (secret !== undefined) return <HookSecret provider={provider} secret={secret} onClose={onClose} />;
  const isOurs = provider.secret === "ours";
  return (
    <Dialog
      title={`${HOOKS.rotate} of ${of.name}`}
      description={isOurs ? HOOKS.rotateOurs : HOOKS.rotateProvider}
      onClose={onClose}
    >
      <Form
        schema={NewSecret}
        submit={HOOKS.rotate}
        onCancel={onClose}
        onSubmit={async ({ provider_secret: entered }) => {
          const made = entered === "" && provider.secret === "chosen" ? randomSecret() : "";
          const rotated = await rotate.mutateAsync({ workspace, hookId: of.id, providerSecret: entered || made });
          rotate.reset();
          onChanged();
          const shown = rotated.secret || made;
          if (shown !== "") return setSecret(shown);
          toast(HOOKS.rotated);
          onClose();
        }}
      >
        <SecretField provider={provider} isRotation />
      </Form>
    </Dialog>
  );
}
