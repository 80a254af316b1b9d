import { create } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  type ListLockedWorkspacesRequest,
  ListLockedWorkspacesRequestSchema,
  type ListLockedWorkspacesResponse,
  WorkspaceService,
} from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Peers } from "@toolgate/service-host/peers";

/** [IN-28] Whether a workspace is locked, from key-auth's database. */
export type IsWorkspaceLocked = (workspaceId: string) => Promise<boolean>;

type ListLocked = (request: ListLockedWorkspacesRequest) => Promise<ListLockedWorkspacesResponse>;

const TIMEOUT_MS = 3_000;
/** The most ids that one request to key-auth may have. */
const MAX_IDS = 500;

/** For each run: a hot call, which waits for a key-auth that is away. */
export function lockCheckOfRuns(peers: Pick<Peers, "call">): IsWorkspaceLocked {
  const listLocked = peers.call(WorkspaceService.method.listLockedWorkspaces);
  return createIsWorkspaceLocked((request) => listLocked(request, { timeoutMs: TIMEOUT_MS }));
}

/** [IN-22] For senders, who wait for a response: fails at once while key-auth is away. */
export function lockCheckOfCalls(keyAuth: Transport): IsWorkspaceLocked {
  const client = createClient(WorkspaceService, keyAuth);
  return createIsWorkspaceLocked((request) => client.listLockedWorkspaces(request, { timeoutMs: TIMEOUT_MS }));
}

/** Lookups of one turn of the event loop share a request, which is sent after all of them were made. */
function createIsWorkspaceLocked(listLocked: ListLocked): IsWorkspaceLocked {
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
