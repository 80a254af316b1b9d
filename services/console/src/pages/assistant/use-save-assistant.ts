import { useMutation } from "@connectrpc/connect-query";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import type { Save } from "../definition/use-save.ts";
import type { Versioned } from "../definition/versioned.ts";
import { definitionOf, versionOf } from "./assistant-version.ts";

export function useSaveAssistant(name: string): (save: Save) => Promise<Versioned | undefined> {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(AssistantService.method.saveAssistant);
  return async ({ definition, ...save }) => {
    const { assistant } = await mutateAsync({ workspace, name, definition: definitionOf(definition), ...save });
    return assistant && versionOf(assistant);
  };
}
