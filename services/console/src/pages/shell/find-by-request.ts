import { useQuery } from "@connectrpc/connect-query";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { callText } from "../../text/en/shell.ts";
import { type Found, mayBeRequestId, UUID } from "./found.ts";
import { REQUEST_PAGES } from "./request-pages.ts";

/** The run with this id. */
export function useRun(text: string): Found[] {
  const workspace = useWorkspace();
  const { data } = useQuery(
    ExecutionService.method.getExecution,
    { workspace, executionId: text },
    { enabled: UUID.test(text), retry: false },
  );
  const run = data?.execution;
  return run ? [{ kind: "run", id: run.id, label: run.tool, to: "/runs", search: { open: run.id } }] : [];
}

/** The key calls of the request with this id, and where to look for everything else that it caused. */
export function useRequest(text: string): Found[] {
  const workspace = useWorkspace();
  const isRequest = mayBeRequestId(text);
  const { data } = useQuery(
    KeyService.method.listKeyCalls,
    { workspace, requestId: text },
    { enabled: isRequest, retry: false },
  );
  if (!isRequest) return [];
  const calls = (data?.calls ?? []).slice(0, 1).map(
    ({ tool, status, keyId }): Found => ({
      kind: "call",
      id: keyId,
      label: callText(tool, status),
      to: "/api-keys",
      search: { open: keyId },
    }),
  );
  const pages = REQUEST_PAGES.map(
    ({ to, label, filter }): Found => ({ kind: "request", id: to, label, to, search: { [filter]: text } }),
  );
  return [...calls, ...pages];
}
