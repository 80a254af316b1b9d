import { type CurrentRows, type CurrentRowsOptions, createCurrentRows } from "@toolgate/epoch/current-rows";
import type { IsWorkspaceLocked } from "../clients/workspace-lock.ts";
import type { ReceivableRow } from "../store/receivable-hook.ts";

/** A hook's row with its opened secret and its workspace's lock. */
export interface ReceivableHook extends Omit<ReceivableRow, "secret"> {
  /** Opened; empty for an inactive hook. */
  secret: string;
  /** Whether its workspace is locked. */
  locked: boolean;
}

export type CurrentHooks = CurrentRows<ReceivableHook>;

type Dependencies = Pick<
  CurrentRowsOptions<ReceivableRow, ReceivableHook>,
  "find" | "counter" | "redis" | "now" | "onRedisError"
> & { openSecret: (row: ReceivableRow) => string; isWorkspaceLocked: IsWorkspaceLocked };

const MAX_CACHED_BYTES = 64 * 1024 * 1024;

/** Hooks by the hash of their URL's last segment: an edit, a rotation, a deactivation and a lock apply at once. */
export function createCurrentHooks({ openSecret, isWorkspaceLocked, ...dependencies }: Dependencies): CurrentHooks {
  return createCurrentRows<ReceivableRow, ReceivableHook>({
    name: "hooks",
    ...dependencies,
    read: (row) => ({ ...row, secret: row.active ? openSecret(row) : "", locked: false }),
    complete: async (hook) => ({ ...hook, locked: hook.active && (await isWorkspaceLocked(hook.workspaceId)) }),
    maxBytes: MAX_CACHED_BYTES,
    sizeOf: (hook) => 2 * (hook?.secret.length ?? 0),
  });
}
