import { createClient, type Transport } from "@connectrpc/connect";
import { AssistantRunService } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { HookTargetService } from "@toolgate/gen/toolgate/tool_runner/v1/hook_target_pb";

/** What hook management needs to know about tools and assistants. */
export type Targets = ReturnType<typeof createTargets>;

const TIMEOUT_MS = 5_000;

export function createTargets({ toolRunner, chat }: { toolRunner: Transport; chat: Transport }) {
  const tools = createClient(HookTargetService, toolRunner);
  const assistants = createClient(AssistantRunService, chat);
  return {
    /** What a tool takes. With a body {"args": …}, also the arguments that a run would get, or their violations. */
    checkTool(workspaceId: string, tool: string, call?: { body: Uint8Array; fromForm: boolean }) {
      return tools.checkHookTarget({ workspaceId, tool, ...call }, { timeoutMs: TIMEOUT_MS });
    },
    async isAssistantReleased(workspaceId: string, assistant: string): Promise<boolean> {
      const asked = { workspaceId, assistant };
      const { exists, released } = await assistants.checkAssistant(asked, { timeoutMs: TIMEOUT_MS });
      return exists && released;
    },
  };
}
