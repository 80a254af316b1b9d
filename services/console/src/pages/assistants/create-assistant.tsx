import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ASSISTANT_EDITOR, ASSISTANTS } from "../../text/en/assistants/assistants.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, TextArea } from "../../ui/form/input.tsx";

const Values = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty(ASSISTANTS.nameMissing)),
  instructions: v.string(),
});

/** Saves the first version, and opens it in the editor. */
export function CreateAssistant({ onClose }: { onClose: () => void }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const { mutateAsync } = useMutation(AssistantService.method.saveAssistant);
  return (
    <Dialog title={ASSISTANTS.create} onClose={onClose}>
      <Form
        schema={Values}
        submit={ASSISTANTS.create}
        onCancel={onClose}
        onSubmit={async ({ name, instructions }) => {
          await mutateAsync({ workspace, name, definition: { instructions }, expectedVersion: 0 });
          await navigate({ to: "/assistants/$name", params: { name }, search: {} });
        }}
      >
        <Field name="name" label={ASSISTANTS.name} hint={ASSISTANTS.nameHint}>
          {(control) => <Input {...control} data-mono autoFocus />}
        </Field>
        <Field name="instructions" label={ASSISTANT_EDITOR.instructions} hint={ASSISTANT_EDITOR.instructionsHint}>
          {(control) => <TextArea {...control} rows={6} />}
        </Field>
      </Form>
    </Dialog>
  );
}
