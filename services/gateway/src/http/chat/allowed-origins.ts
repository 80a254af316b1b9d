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
  const cached = new LRUCache<string, Promise<boolean>>({ max: MAX_CACHED, ttl: CACHED_MS });
  async function ask(origin: string, workspaceId: string): Promise<boolean> {
    try {
      return (await chat.checkOrigin({ origin, workspaceId }, { timeoutMs: TIMEOUT_MS })).allowed;
    } catch {
      return false;
    }
  }
  return (origin, workspaceId) => {
    if (!ORIGIN.test(origin)) return Promise.resolve(false);
    const name = `${workspaceId} ${origin}`;
    const found = cached.get(name) ?? ask(origin, workspaceId);
    if (!cached.has(name)) cached.set(name, found);
    return found;
  };
}
