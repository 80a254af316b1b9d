import type { TokenSource } from "@toolgate/chat-client/api";
import { ChatError } from "@toolgate/chat-client/retries";

/**
 * Gets tokens from the site's own server: a POST with the site's cookies, which responds with JSON: `{"token": "…"}`. A token
 * is used until the chat server refuses it.
 */
export function tokenFrom(url: string): TokenSource {
  let current: Promise<string> | undefined;
  return (refused) => {
    if (refused || !current) {
      current = fetchToken(url);
      current.catch(() => {
        current = undefined;
      });
    }
    return current;
  };
}

async function fetchToken(url: string): Promise<string> {
  const response = await fetch(url, { method: "POST", credentials: "same-origin", cache: "no-store" });
  // Any failure of that server may be temporary.
  const status = response.status >= 500 ? 503 : response.status;
  if (!response.ok) throw new ChatError(status, "TOKEN_FAILED", "You are not signed in.");
  const { token } = (await response.json()) as { token?: unknown };
  if (typeof token !== "string") throw new ChatError(0, "TOKEN_FAILED", "You are not signed in.");
  return token;
}
