import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { ASSISTANTS } from "../../../text/en/assistants/assistants.ts";
import { EDITOR } from "../../../text/en/tools/tool-editor.ts";
import { Confirm } from "../../../ui/dialog/confirm.tsx";
import { toast } from "../../../ui/dialog/toast.tsx";

export function DeleteAssistant({ name, onClose }: { name: string; onClose: () => void }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const { mutateAsync } = useMutation(AssistantService.method.deleteAssistant);
  return (
    <Confirm
      title={ASSISTANTS.deleteTitle(name)}
      action={ASSISTANTS.delete}
      onClose={onClose}
      onConfirm={async () => {
        await mutateAsync({ workspace, name });
        toast(EDITOR.deleted(name));
        await navigate({ to: "/assistants", search: {}, ignoreBlocker: true });
      }}
    >
      <p>{ASSISTANTS.deleteText}</p>
    </Confirm>
  );
}
