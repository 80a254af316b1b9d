import { useQuery } from "@connectrpc/connect-query";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { KeyService, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";

/** As many as one page has. */
const MAX_KEYS = 100;

export interface Callers {
  keys: readonly string[];
  /** There are more keys than are listed. */
  hasMoreKeys: boolean;
  hooks: readonly string[];
}

/** The names of the active keys that list a tool, and of the active hooks that run it. */
export function useCallers(tool: string) {
  const workspace = useWorkspace();
  const options = { gcTime: 0, staleTime: 0 };
  const keys = useQuery(
    KeyService.method.listKeys,
    { workspace, tool, status: KeyStatus.ACTIVE, pageSize: MAX_KEYS },
    options,
  );
  const hooks = useQuery(HookService.method.listHooks, { workspace }, options);
  const isOfTool = (target: { case: string | undefined; value?: unknown } | undefined) =>
    target?.case === "tool" && target.value === tool;
  const callers: Callers | undefined = keys.data &&
    hooks.data && {
      keys: keys.data.keys.map(({ name }) => name),
      hasMoreKeys: keys.data.nextPageToken !== "",
      hooks: hooks.data.hooks
        .filter(({ active, target }) => active && isOfTool(target?.target))
        .map(({ name }) => name),
    };
  return { callers, hasFailed: keys.isError || hooks.isError };
}
