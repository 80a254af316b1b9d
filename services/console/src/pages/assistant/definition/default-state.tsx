import { useMutation } from "@connectrpc/connect-query";
import { type Assistant, AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { ASSISTANTS } from "../../../text/en/assistants/assistants.ts";
import { Button } from "../../../ui/button.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { Status } from "../../../ui/status.tsx";

interface DefaultStateProps {
  assistant: Assistant;
  readOnly: boolean;
  onChanged: () => void;
}

/** Whether it answers chats that name no assistant. */
export function DefaultState({ assistant: { name, isDefault, version }, readOnly, onChanged }: DefaultStateProps) {
  const workspace = useWorkspace();
  const set = useMutation(AssistantService.method.setDefaultAssistant, { onSuccess: onChanged });
  if (isDefault) return <Status tone="good">{ASSISTANTS.isDefault}</Status>;
  if (readOnly || version === 0) return null;
  return (
    <>
      <Button pending={set.isPending} onClick={() => set.mutate({ workspace, name })}>
        {ASSISTANTS.makeDefault}
      </Button>
      {set.error && <FailureText failure={failureOf(set.error)} />}
    </>
  );
}
