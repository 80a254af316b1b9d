import { useQuery } from "@connectrpc/connect-query";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOK_LOG } from "../../text/en/webhooks/hook-log.ts";
import { HookPointers } from "../hooks/hook-facts.tsx";

/** How the hook makes arguments of a body. Nothing for a hook that was deleted. */
export function CallMapping({ hookId }: { hookId: bigint }) {
  const workspace = useWorkspace();
  const { data } = useQuery(HookService.method.getHook, { workspace, hookId }, { retry: false });
  return data?.hook && <HookPointers of={data.hook} title={HOOK_LOG.mapping} hint={HOOK_LOG.mappingText} />;
}
