import type { Client } from "@connectrpc/connect";
import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { LRUCache } from "lru-cache";

/** Whether pages of an origin may call the chat API of a workspace, or with "" of any workspace. Never rejects. */
export type AllowedOrigins = (origin: string, workspaceId: string) => Promise<boolean>;

const MAX_CACHED = 10_000;
/** A change of a workspace's list applies after this time at the latest. */
const CACHED_MS = 5_000;
const TIMEOUT_MS = 5_000;
const ORIGIN = /^https?:\/\/[^/\s]{1,255}$/;

export function createAllowedOrigins(chat: Client<typeof ChatService>): AllowedOrigins {
  const cached = new LRUCache<string, Promise<boolean>, () => Promise<boolean>>({
    max: MAX_CACHED,
    ttl: CACHED_MS,
    memoMethod: (_name, _stale, { context }) => context(),
  });
  async function ask(origin: string, workspaceId: string): Promise<boolean> {
    try {
      return (await chat.checkOrigin({ origin, workspaceId }, { timeoutMs: TIMEOUT_MS })).allowed;
    } catch {
      return false;
    }
  }
  return async (origin, workspaceId) =>
    ORIGIN.test(origin) && cached.memo(`${workspaceId} ${origin}`, { context: () => ask(origin, workspaceId) });
}
