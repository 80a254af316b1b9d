import { create } from "@bufbuild/protobuf";
import {
  type ListLockedWorkspacesRequest,
  ListLockedWorkspacesRequestSchema,
  type ListLockedWorkspacesResponse,
  WorkspaceService,
} from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { PeerCall, Peers } from "@toolgate/service-host/peers";

/** [IN-28] Whether a workspace is locked, from key-auth's database. */
export type IsWorkspaceLocked = (workspaceId: string) => Promise<boolean>;

type ListLocked = PeerCall<ListLockedWorkspacesRequest, ListLockedWorkspacesResponse>;

/** The most ids that one request to key-auth may have. */
const MAX_IDS = 500;

/** Lookups of one turn of the event loop share a request, which is sent after all of them were made. */
export function createIsWorkspaceLocked(peers: Pick<Peers, "call">): IsWorkspaceLocked {
  const listLocked: ListLocked = peers.call(WorkspaceService.method.listLockedWorkspaces);
  let waiting = new Map<string, PromiseWithResolvers<boolean>>();
  const ask = () => {
    const lookups = [...waiting];
    waiting = new Map();
    for (let at = 0; at < lookups.length; at += MAX_IDS) void askFor(listLocked, lookups.slice(at, at + MAX_IDS));
  };
  return (workspaceId) => {
    const joined = waiting.get(workspaceId);
    if (joined) return joined.promise;
    if (waiting.size === 0) setImmediate(ask);
    const lookup = Promise.withResolvers<boolean>();
    waiting.set(workspaceId, lookup);
    return lookup.promise;
  };
}

async function askFor(
  listLocked: ListLocked,
  lookups: readonly [workspaceId: string, PromiseWithResolvers<boolean>][],
): Promise<void> {
  try {
    const workspaceIds = lookups.map(([workspaceId]) => workspaceId);
    const { lockedIds } = await listLocked(create(ListLockedWorkspacesRequestSchema, { workspaceIds }));
    const locked = new Set(lockedIds);
    for (const [workspaceId, { resolve }] of lookups) resolve(locked.has(workspaceId));
  } catch (error) {
    for (const [, { reject }] of lookups) reject(error);
  }
}
