import type { AllowedOrigins } from "../chat/allowed-origins.ts";

/** Whether a request may come from a page of this origin; with "" as the workspace, to any workspace. Never rejects. */
export type McpOrigins = (origin: string | undefined, workspaceId: string) => Promise<boolean>;

/**
 * [TOOL-39] A page in a browser must not use MCP in the name of whoever visits it: only clients that are no pages (they
 * send no Origin), pages of the gateway's own public address, and those that the workspace allows for chats.
 */
export function createMcpOrigins(publicUrl: string, allowed: AllowedOrigins): McpOrigins {
  const own = URL.parse(publicUrl)?.origin;
  return async (origin, workspaceId) => origin === undefined || origin === own || allowed(origin, workspaceId);
}
