import { useMutation } from "@connectrpc/connect-query";
import { AssistantService, type ChatSettings } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { USAGE } from "../../text/en/assistants/chats.ts";
import { DATA } from "../../text/en/tools/data.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { changedFields } from "../../ui/form/changed-fields.ts";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, TextArea } from "../../ui/form/input.tsx";

const Values = v.object({
  tokens_per_day: v.pipe(v.string(), v.trim(), v.regex(/^\d{1,15}$/, USAGE.budgetWrong)),
  allowed_origins: v.pipe(
    v.string(),
    v.transform((text) => text.split(/\s+/).filter(Boolean)),
  ),
});

interface ChatSettingsDialogProps {
  of: ChatSettings;
  onClose: () => void;
  onChanged: () => void;
}

export function ChatSettingsDialog({ of, onClose, onChanged }: ChatSettingsDialogProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(AssistantService.method.updateChatSettings);
  const before = { tokens_per_day: String(of.tokensPerDay), allowed_origins: of.allowedOrigins };
  return (
    <Dialog title={USAGE.editTitle} onClose={onClose}>
      <Form
        schema={Values}
        submit={DATA.save}
        onCancel={onClose}
        onSubmit={async (values) => {
          const { tokens_per_day: tokens, allowed_origins: origins } = changedFields(before, values);
          await mutateAsync({
            workspace,
            tokensPerDay: tokens === undefined ? undefined : BigInt(tokens),
            allowedOrigins: origins && { origins },
          });
          toast(USAGE.saved);
          onChanged();
          onClose();
        }}
      >
        <Field name="tokens_per_day" label={USAGE.budget} hint={USAGE.budgetHint}>
          {(control) => <Input {...control} inputMode="numeric" autoFocus defaultValue={before.tokens_per_day} />}
        </Field>
        <Field name="allowed_origins" label={USAGE.origins} hint={USAGE.originsHint}>
          {(control) => <TextArea {...control} data-mono defaultValue={of.allowedOrigins.join("\n")} />}
        </Field>
      </Form>
    </Dialog>
  );
}
