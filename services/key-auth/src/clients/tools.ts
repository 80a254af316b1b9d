import { createClient, type Transport } from "@connectrpc/connect";
import { type ExplainReleaseResponse, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";

/** What key management needs from tool-runner. */
export interface Tools {
  /** Which of the named tools a key may list: those that exist, are released and are not async. */
  released(workspaceId: string, names: string[]): Promise<Set<string>>;
  /** Why a tool is or is not available to keys. */
  explain(workspaceId: string, name: string): Promise<ExplainReleaseResponse>;
}

const TIMEOUT_MS = 3_000;

export function createTools(transport: Transport): Tools {
  const client = createClient(ToolService, transport);
  return {
    async released(workspaceId, names) {
      if (names.length === 0) return new Set();
      const { released } = await client.checkTools({ workspaceId, names }, { timeoutMs: TIMEOUT_MS });
      return new Set(released);
    },
    explain(workspaceId, name) {
      return client.explainRelease({ workspaceId, name }, { timeoutMs: TIMEOUT_MS });
    },
  };
}
